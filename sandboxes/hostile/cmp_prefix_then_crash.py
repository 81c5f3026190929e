print(1)
print(4)
raise SystemExit(0)
