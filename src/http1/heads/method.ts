// What a request method promises (RFC 9110 section 9.2).

/** Whether a request may be sent twice (RFC 9110 section 9.2.2). */
export function isIdempotent(method: string): boolean {
  return (
    method === 'GET' || method === 'HEAD' || method === 'PUT' || method === 'DELETE' || method === 'OPTIONS'
  )
}
