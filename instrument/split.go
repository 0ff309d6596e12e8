package instrument

func (u *user) split() {}
