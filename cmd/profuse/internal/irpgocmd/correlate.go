package irpgocmd

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"strings"

	"github.com/profuse-pgo/profuse/irpgo"
	"github.com/profuse-pgo/profuse/profile"
	"github.com/profuse-pgo/profuse/symbolize"
)

// correlations are programs whose profiles were written without data records
// and names.
type correlations []correlation

type correlation struct {
	file string
	*irpgo.Correlation
}

// openCorrelations reads the programs. Each says by its sections which kind of
// correlation it was built for.
func openCorrelations(files []string, warn func(irpgo.Warning)) (correlations, error) {
	var all correlations
	for _, name := range files {
		c, err := openCorrelation(name, warn)
		if err != nil {
			return nil, err
		}
		all = append(all, correlation{name, c})
	}
	return all, nil
}

func openCorrelation(name string, warn func(irpgo.Warning)) (*irpgo.Correlation, error) {
	f, err := symbolize.Open(name, symbolize.Options{})
	if err != nil {
		return nil, err
	}
	defer f.Close()
	if irpgo.HasCorrelationData(f) {
		return irpgo.CorrelateBinary(f, warn)
	}
	return irpgo.CorrelateDebugInfo(f, warn)
}

// forProfile returns what completes a profile of the binaries with these ids.
// Without ids there must be no choice.
func (all correlations) forProfile(ids [][]byte) (*irpgo.Correlation, error) {
	if len(all) == 0 {
		return nil, nil
	}
	for _, id := range ids {
		for _, c := range all {
			if bytes.Equal(c.BinaryID, id) {
				return c.Correlation, nil
			}
		}
	}
	if len(all) == 1 && (len(ids) == 0 || len(all[0].BinaryID) == 0) {
		return all[0].Correlation, nil
	}
	found := "no binary id"
	if len(ids) > 0 {
		found = "binary id " + hex.EncodeToString(ids[0])
	}
	var known []string
	for _, c := range all {
		id := hex.EncodeToString(c.BinaryID)
		if id == "" {
			id = "no id"
		}
		known = append(known, fmt.Sprintf("%s (%s)", c.file, id))
	}
	return nil, &profile.FormatError{
		Section: "binary ids", Offset: -1, Record: -1, Field: "program to correlate with", Found: found,
		Want: "that of " + strings.Join(known, " or "), Err: profile.ErrMismatch,
	}
}
