package iprof

import (
	"testing"

	"github.com/profuse-pgo/profuse/test/oracle"
)

func TestMain(m *testing.M) { oracle.Main(m) }
