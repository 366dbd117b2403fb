echo never > ran.txt
