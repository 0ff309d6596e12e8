// Command profuse-fleet is profuse with drivers for buckets: its commands read and write
// URLs that begin with s3://, gs:// and azblob://.
package main

import (
	"github.com/profuse-pgo/profuse/fleet/cloud"
	"github.com/profuse-pgo/profuse/internal/command"
)

func main() { command.Main(cloud.Drivers()) }
