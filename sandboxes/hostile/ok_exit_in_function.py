def main():
    for i in range(1, int(input()) + 1): print(i * i)
    raise SystemExit
main()
