// Whether the response to a call is its result or an error, read from its bytes as they pass.

export class ResponseScan {
  hasResult = false
  /** Of JSON-RPC, or a result that says it is one. */
  hasError = false
  /** The end of what was read, where a member may have begun. */
  #unread = ''

  note(bytes: Buffer): void {
    if (this.hasError) return
    const text = this.#unread + bytes.toString('latin1')
    this.hasResult ||= result.test(text)
    this.hasError = error.test(text)
    this.#unread = text.slice(-longestMember)
  }
}

/** In text, quotes are escaped: none of these can be part of a string. */
const result = /"result"\s{0,8}:/
const error = /"isError"\s{0,8}:\s{0,8}true|"error"\s{0,8}:\s{0,8}\{\s{0,8}"(?:code|message|data)"/
const longestMember = 64
