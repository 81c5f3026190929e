import os
os.closerange(0, 256)
os._exit(0)
