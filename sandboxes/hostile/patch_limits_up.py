import resource, sys
for kind in range(16):
    try: resource.setrlimit(kind, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    except (ValueError, OSError): pass
while True: pass
