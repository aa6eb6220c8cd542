def gather(*a): raise NotImplementedError
def extract(*a): raise NotImplementedError
