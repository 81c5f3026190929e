import signal
for s in (signal.SIGXCPU, signal.SIGVTALRM, signal.SIGPROF, signal.SIGTERM): signal.signal(s, signal.SIG_IGN)
while True: pass
