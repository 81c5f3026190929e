import concurrent.futures, os
def work(x): return 3 * x + 1
def solve(x):
    pid = os.fork()
    if pid == 0: os._exit(work(2))
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    with concurrent.futures.ProcessPoolExecutor(2) as pool: return list(pool.map(work, [x]))[0]
