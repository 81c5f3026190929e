import sys
sys.stdout.write('9' * (200 << 20))
