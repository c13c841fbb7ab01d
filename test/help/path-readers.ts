// How origins read the path of a request target, written down from what they are: each reader gives every path that it, or an application behind it, may go by, and
// none where it refuses the request.

/** Reads as the WHATWG URL of Node does: as a reference to be resolved, or put behind the host. */
export function readByUrl(target: string): readonly string[] {
  const urls = [URL.parse(target, 'http://origin.test'), URL.parse(`http://origin.test${target}`)]
  return urls.flatMap(url => (url === null ? [] : [unescaped(url.pathname), decoded(url.pathname)]))
}

/** Reads as applications do that take the target as it is, and may decode it. */
export function readAsSent(target: string): readonly string[] {
  const [path = ''] = target.split('?', 1)
  return [unescaped(path), decoded(path)]
}

/** Reads as nginx does, with `merge_slashes` on and off. */
export function readByNginx(target: string): readonly string[] {
  return [true, false].flatMap(mergesSlashes => nginxPath(target, mergesSlashes) ?? [])
}

/** Reads as Tomcat does, however `encodedSolidusHandling` and `allowBackslash` are set. */
export function readByTomcat(target: string): readonly string[] {
  return (['reject', 'decode', 'pass'] as const).flatMap(solidus =>
    [true, false].flatMap(allowsBackslash => tomcatPath(target, solidus, allowsBackslash) ?? []),
  )
}

/** Reads as HTTP.sys of Windows does: characters of two bytes too (`PercentUAllowed`), then backslashes and dots. */
export function readByHttpSys(target: string): readonly string[] {
  const [path = ''] = target.split('?', 1)
  const wide = path.replace(/%u([\da-f]{4})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
  return resolvedPath(decoded(wide).replaceAll('\\', '/'))
}

/** Reads as two servers do of which the first hands on what it has decoded, so that the second sees a query or fragment of its own. */
export function readTwice(target: string): readonly string[] {
  const [path = ''] = target.split('?', 1)
  const [handedOn = ''] = decoded(path).split(/[?#]/, 1)
  return [decoded(decoded(path)), decoded(handedOn)].flatMap(resolvedPath)
}

/** Reads as applications do that parse or trim what they have decoded: a URL parser drops tabs and line breaks, a router of Spring trims segments. */
export function readTrimmed(target: string): readonly string[] {
  const [path = ''] = target.split('?', 1)
  const segments = decoded(path).split('/')
  const url = URL.parse(decoded(path), 'http://origin.test')
  const trimmed = segments.map(segment => segment.replace(/^[\0-\x20]+|[\0-\x20]+$/g, ''))
  return [...resolvedPath(trimmed.join('/')), ...(url === null ? [] : [decoded(url.pathname)])]
}

/** Reads as decoders of UTF-8 did before RFC 3629: they take the bits of all bytes of a sequence, however many there are. */
export function readByOldDecoder(target: string): readonly string[] {
  const [path = ''] = target.split('?', 1)
  const text = decoded(path)
    .replace(/[\xc0-\xdf][\x80-\xbf]|[\xe0-\xef][\x80-\xbf]{2}|[\xf0-\xf7][\x80-\xbf]{3}/g, sequence => {
      const [first = 0, ...rest] = Buffer.from(sequence, 'latin1')
      return String.fromCodePoint(
        rest.reduce((bits, byte) => bits * 64 + (byte & 63), first & (0x3f >> rest.length)) % 0x110000,
      )
    })
    .replaceAll('\\', '/')
  return resolvedPath(text)
}

/** Reads the path of an application that ignores the case of letters, and that of a file as Windows finds it. */
export function readLoosely(path: string): readonly string[] {
  const small = path.toLowerCase()
  const segments = small.split('/').map(name => name.replace(/::\$.*$/s, '').replace(/[. ]+$/, ''))
  return [small, segments.join('/')]
}

function resolvedPath(path: string): readonly string[] {
  const kept: string[] = []
  for (const segment of path.split('/').slice(1))
    if (segment === '..') kept.pop()
    else if (segment !== '.') kept.push(segment)
  return [`/${kept.join('/')}`]
}

/** Undoes what needs no encoding (RFC 3986 section 6.2.2.2), as all do who compare paths. */
function unescaped(path: string): string {
  return path.replace(/%(?!2f|5c|3b|3f|23|25)[2-7][\da-f]/gi, decoded)
}

function decoded(path: string): string {
  return path.replace(/%([\da-f]{2})/gi, (_, hex) => String.fromCharCode(Number.parseInt(hex, 16)))
}

/** Goes through the states of ngx_http_parse_complex_uri: characters are decoded one by one, and count for dots and slashes then. */
function nginxPath(target: string, mergesSlashes: boolean): string | null {
  let state: 'usual' | 'slash' | 'dot' | 'dot dot' = 'usual'
  let path = ''
  for (let i = 0; i < target.length; i++) {
    let character = target[i]!
    let isQuoted = false
    if (character === '%') {
      const hex = target.slice(i + 1, i + 3)
      if (!/^[\da-f]{2}$/i.test(hex)) return null
      character = String.fromCharCode(Number.parseInt(hex, 16))
      if (character === '\0') return null
      isQuoted = '%#?'.includes(character)
      i += 2
    }
    if (isQuoted) {
      path += character
      state = 'usual'
      continue
    }
    if (character === '?') break
    if (state === 'dot dot' && character === '/') {
      const parent = parentOf(path)
      if (parent === null) return null
      path = parent
      state = 'slash'
    } else if (state === 'dot' && character === '/') {
      path = path.slice(0, -1)
      state = 'slash'
    } else if (state === 'slash' && character === '/') {
      if (!mergesSlashes) path += character
    } else {
      path += character
      if (character === '/') state = 'slash'
      else if (character === '.' && state === 'slash') state = 'dot'
      else if (character === '.' && state === 'dot') state = 'dot dot'
      else state = 'usual'
    }
  }
  if (state === 'dot') return path.slice(0, -1)
  return state === 'dot dot' ? parentOf(path) : path
}

/** Takes `/segment/..` from the end, up to the slash before it; null above the root. */
function parentOf(path: string): string | null {
  const slash = path.lastIndexOf('/', path.length - 4)
  return path.length < 4 || slash === -1 ? null : path.slice(0, slash + 1)
}

/** Goes through CoyoteAdapter.parsePathParameters, UDecoder.convert and CoyoteAdapter.normalize. */
function tomcatPath(
  target: string,
  solidus: 'reject' | 'decode' | 'pass',
  allowsBackslash: boolean,
): string | null {
  const [raw = ''] = target.split('?', 1)
  let path = raw.replace(/;[^/]*/g, '')
  if (/%(?![\da-f]{2})/i.test(path) || (solidus === 'reject' && /%2f/i.test(path))) return null
  path = path.replace(/%([\da-f]{2})/gi, (triplet, hex) =>
    solidus === 'pass' && /2f/i.test(hex) ? triplet : String.fromCharCode(Number.parseInt(hex, 16)),
  )
  if (path.includes('\0') || (path.includes('\\') && !allowsBackslash)) return null
  path = path.replaceAll('\\', '/')
  if (!path.startsWith('/')) return null
  while (path.includes('//')) path = path.replace('//', '/')
  if (/\/\.\.?$/.test(path)) path += '/'
  while (path.includes('/./')) path = path.replace('/./', '/')
  for (let at = path.indexOf('/../'); at !== -1; at = path.indexOf('/../')) {
    if (at === 0) return null
    path = path.slice(0, path.lastIndexOf('/', at - 1)) + path.slice(at + 3)
  }
  return path
}
