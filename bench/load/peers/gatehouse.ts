// Gatehouse as a contestant of the bench, and on both sides of bench/compare.ts.
import { packageVersion, programIn, ROOT } from '../installed.ts'
import { freePort } from '../../../test/help/free-port.ts'
import { emptyFolder, keep } from '../launch.ts'
import type { Peer } from '../peers.ts'
import { identityFiles } from '../tls.ts'

interface GatehouseOptions {
  /** The folder of a tree whose sources are started; by default, what `npm start` starts in this one is. */
  readonly root?: string
  /** Makes further settings, with the folder of the store that the peer will open. */
  readonly more?: (data: string) => Promise<string>
  readonly workers?: number
  readonly logsAccess?: boolean
}

/** Makes a peer of Gatehouse. */
export function gatehouse(
  name = 'gatehouse',
  { root, more = async () => '', workers = 0, logsAccess = true }: GatehouseOptions = {},
): Peer {
  return {
    name,
    refusal: 521,
    version: () => packageVersion(root ?? ROOT),
    async prepare(port, origin, isTls = false) {
      const data = emptyFolder()
      const path = keep(
        'gatehouse.yaml',
        config(workers, port, await freePort(), origin, isTls, logsAccess) + (await more(data)),
      )
      const args = [programIn(root), 'start', '--config', path]
      return { file: process.execPath, args, env: { GATEHOUSE_DATA: data } }
    },
  }
}

/** Lets connections live as long as the load, as nginx's do here: h2load opens none anew. */
export const unboundedConnections = 'limits: { requests_per_connection: 1000000000 }\n'

function config(
  workers: number,
  port: number,
  admin: number,
  origin: number,
  isTls: boolean,
  logsAccess: boolean,
): string {
  return `workers: ${workers}
listen: ${isTls ? `[{ address: '127.0.0.1:${port}', tls: true }]\n${tls()}` : `['127.0.0.1:${port}']`}
admin: 127.0.0.1:${admin}
${logsAccess ? '' : 'log: { access: false }\n'}${unboundedConnections}pools:
  origin:
    origins: ['http://127.0.0.1:${origin}']
zones:
  - hosts: ['127.0.0.1']
    default: true
    routes:
      - path: /
        pool: origin
`
}

function tls(): string {
  const { certificate, key } = identityFiles()
  return `tls: { certificates: [{ certificate: 'file:${certificate}', key: 'file:${key}' }] }`
}
