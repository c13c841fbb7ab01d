// Valid e-mail addresses: only forms that every mail system accepts, so that each has one spelling.

/** Returns the flaw of an address, in words that follow its name; null when valid. */
export function emailFault(text: string): string | null {
  if (text.length > longest) return `must have at most ${longest} characters`
  return address.test(text) ? null : 'must be an e-mail address such as ada@example.com'
}

/** Letters beyond ASCII stay: in lower case, some would give another person's address. */
export function normalEmail(text: string): string {
  return text.replace(/[A-Z]+/g, letters => letters.toLowerCase())
}

const longest = 254

/** A dot-atom (RFC 5322 section 3.2.3) and a host name: no quotes, comments or characters beyond ASCII. */
const address =
  /^(?=[^@]{1,64}@)[\w!#$%&'*+/=?^`{|}~-]+(?:\.[\w!#$%&'*+/=?^`{|}~-]+)*@(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)*[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?$/i
