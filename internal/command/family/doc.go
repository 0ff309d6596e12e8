// Package family defines the interfaces through which commands work on one family of formats.
// Packages irpgocmd, mipcmd, iprofcmd and samplecmd implement them.
package family
