package decode
import ("testing";"os";"bufio";"fmt";"encoding/binary")
func TestTmpA(t *testing.T){
 f,_:=os.Open(os.Getenv("W")); sc:=bufio.NewScanner(f)
 n,d:=0,map[[2]bool]int{}
 ex:=map[[2]bool][]string{}
 for sc.Scan(){ var w uint32; var v int; fmt.Sscanf(sc.Text(),"%x %d",&w,&v); var b [4]byte; binary.LittleEndian.PutUint32(b[:],w)
  i:=decodeARM64(b[:],0)
  k:=[2]bool{v==1,i.Valid}; d[k]++; n++
  if k[0]!=k[1] && len(ex[k])<40 { ex[k]=append(ex[k],fmt.Sprintf("%08x",w)) } }
 fmt.Println(n,d); for k,v:=range ex { fmt.Println(k,v) } }
