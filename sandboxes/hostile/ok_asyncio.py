import asyncio
async def work(x):
    await asyncio.sleep(0.01)
    return 3 * x + 1
def solve(x):
    return asyncio.run(work(x))
