print("house rules come later")
