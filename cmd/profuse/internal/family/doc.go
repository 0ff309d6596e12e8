// Package family says what the commands show, check, merge and watch ask of the
// formats of one kind. The packages irpgocmd, mipcmd and iprofcmd answer.
package family
