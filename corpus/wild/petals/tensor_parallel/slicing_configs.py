def get_bloom_config(model_config, devices):
    raise NotImplementedError("for models of BLOOM alone")
