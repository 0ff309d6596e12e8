package irpgo

import (
	"testing"

	"github.com/profuse-pgo/profuse/internal/oracle"
)

func TestMain(m *testing.M) { oracle.Main(m) }
