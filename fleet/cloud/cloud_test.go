package cloud

import (
	"testing"

	"github.com/profuse-pgo/profuse/internal/files/store"
	"github.com/profuse-pgo/profuse/internal/files/store/storetest"
)

func TestS3(t *testing.T) {
	s := gateway(t)
	name := s3Fresh(t, s)
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, s3URL(name, s.address)) })
}

func TestGCS(t *testing.T) {
	google(t)
	name := gcsFresh(t)
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, "gs://"+name) })
}

func TestAzure(t *testing.T) {
	azurite(t)
	name := azureFresh(t)
	storetest.Run(t, func(t *testing.T) store.Store { return open(t, "azblob://"+name) })
}
