import os, signal, threading
def solve(x):
    assert threading.current_thread() is threading.main_thread() and threading.active_count() == 1
    assert threading.main_thread().native_id == threading.get_native_id()
    signal.pthread_kill(threading.main_thread().ident, 0)
    return 3 * x + 1
