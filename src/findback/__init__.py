"""findback: does search find back what is there?"""
