from functools import partial
out=open('/dev/stdout','w')
p=partial(print, file=out)
for i in range(1,int(input())+1): p(i*i)
