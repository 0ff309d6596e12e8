package doctorcmd

import (
	"github.com/profuse-pgo/profuse/formats/irpgo"
	"github.com/profuse-pgo/profuse/inputs"
)

func checkProfile(file string) error {
	return inputs.File(file, inputs.Options{}).One(func(d *inputs.Data) error {
		r, err := irpgo.NewReader(d.Name(), d.Bytes(), irpgo.ReaderOptions{})
		if err != nil {
			return err
		}
		for _, err := range r.ReusedRecords() {
			if err != nil {
				return err
			}
		}
		return nil
	})
}
