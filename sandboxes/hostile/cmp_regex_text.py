print('.*')
