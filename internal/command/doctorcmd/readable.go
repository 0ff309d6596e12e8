package doctorcmd

import (
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
)

// checkProfile reads a raw profile, and returns how many profiles the file has, one after the other.
func checkProfile(file string) (profiles int, err error) {
	err = inputs.File(file, inputs.Options{}).One(func(d *inputs.Data) error {
		r, err := irpgo.NewReader(d.Name(), d.Bytes(), irpgo.ReaderOptions{})
		if err != nil {
			return err
		}
		for _, err := range r.ReusedRecords() {
			if err != nil {
				return err
			}
		}
		profiles = r.Info.Profiles
		return nil
	})
	return profiles, err
}
