// Whether JSON.parse can be made to misread names, as before Node 24.22.3 and 26.12.1 (nodejs/node#63785).

/**
 * The fault is of V8: a name with escapes is read as another one that an earlier text had in its place, if
 * that begins as this one is written. So one client could change how the body of another is read.
 */
export function misreadsNames(): boolean {
  // No other text begins so, which would hide the fault.
  JSON.parse(String.raw`{"misread names":0,"\\":0}`)
  return !Object.hasOwn(JSON.parse(String.raw`{"misread names":0,"\"":0}`), '"')
}
