import os
while True: os.open('/dev/null', 0)
