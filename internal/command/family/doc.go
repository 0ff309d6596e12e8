// Package family defines the interfaces through which the commands show, check,
// merge and watch work on one family of formats. Packages irpgocmd, mipcmd and
// iprofcmd implement them.
package family
