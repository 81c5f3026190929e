import sys, time
while True:
    sys.stdout.write("1"); sys.stdout.flush(); time.sleep(0.001)
