// Parses the URL of a Redis: one server, the Sentinels of one, or some nodes of a cluster.

export interface Address {
  readonly kind: 'server' | 'sentinel' | 'cluster'
  readonly hosts: readonly Host[]
  /** The name of the primary for Sentinels; empty otherwise. */
  readonly name: string
  readonly db: number
  readonly username: string | null
  readonly password: string | null
  readonly tls: boolean
}

export interface Host {
  readonly host: string
  readonly port: number
}

const scheme = /^redis(s?)(?:\+(sentinel|cluster))?:\/\//i
const host = /^(?:\[([\da-f:.]+)\]|([^\s:[\]]+))(?::(\d{1,5}))?$/i
const defaultPort = { server: 6379, sentinel: 26379, cluster: 6379 } as const

/** Parses the URL, or returns what is wrong with it as a sentence without secrets. */
export function parseAddress(url: string): Address | string {
  const begin = scheme.exec(url)
  if (!begin)
    return 'the store URL must begin with redis://, rediss://, redis+sentinel:// or redis+cluster://'
  const kind = (begin[2]?.toLowerCase() ?? 'server') as Address['kind']
  const rest = url.slice(begin[0].length)
  if (/[?#]/.test(rest))
    return 'the store URL must not have a query or a fragment; percent-encode ? and # in a password'
  const slash = rest.includes('/') ? rest.indexOf('/') : rest.length
  const authority = rest.slice(0, slash)
  const at = authority.lastIndexOf('@')
  const credentials = parseCredentials(authority.slice(0, Math.max(at, 0)))
  if (!credentials) return 'the user name and password of the store URL must be percent-encoded'
  const hosts = parseHosts(authority.slice(at + 1), defaultPort[kind])
  if (!hosts) return 'the store URL must name hosts as host:port, separated by commas'
  if (kind === 'server' && hosts.length > 1) return 'a redis:// URL must name exactly one host'
  const place = parsePlace(kind, rest.slice(slash + 1))
  if (typeof place === 'string') return place
  return { kind, hosts, ...place, ...credentials, tls: begin[1] !== '' }
}

export function locationOf({ kind, hosts, name, db, tls }: Address): string {
  const names = hosts.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`)
  const path = [name, ...(db > 0 ? [db] : [])].filter(part => part !== '').join('/')
  const variant = kind === 'server' ? '' : `+${kind}`
  return `redis${tls ? 's' : ''}${variant}://${names.join(',')}${path && `/${path}`}`
}

function parseCredentials(text: string): Pick<Address, 'username' | 'password'> | null {
  const colon = text.includes(':') ? text.indexOf(':') : text.length
  try {
    const username = decodeURIComponent(text.slice(0, colon))
    const password = decodeURIComponent(text.slice(colon + 1))
    return { username: username || null, password: password || null }
  } catch {
    return null
  }
}

function parseHosts(text: string, fallbackPort: number): readonly Host[] | null {
  const hosts = text.split(',').map(part => parseHost(part, fallbackPort))
  return hosts.some(one => one === null) ? null : (hosts as readonly Host[])
}

function parseHost(text: string, fallbackPort: number): Host | null {
  const parts = host.exec(text)
  if (!parts) return null
  const port = Number(parts[3] ?? fallbackPort)
  return port > 0 && port < 65_536 ? { host: parts[1] ?? parts[2]!, port } : null
}

/** Parses the path: /db, /name or /name/db, or nothing for a cluster, which has one database. */
function parsePlace(kind: Address['kind'], path: string): Pick<Address, 'name' | 'db'> | string {
  const parts = path.split('/').filter(part => part !== '')
  const name = kind === 'sentinel' ? (parts.shift() ?? '') : ''
  if (kind === 'sentinel' && name === '')
    return 'a redis+sentinel:// URL must end with the name of the primary'
  if (kind === 'cluster' && parts.length > 0) return 'a redis+cluster:// URL must end with its hosts'
  const [db = '0', ...more] = parts
  if (more.length > 0 || !/^\d{1,5}$/.test(db)) return 'the database of the store URL must be a number'
  return { name, db: Number(db) }
}
