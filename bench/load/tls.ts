// The certificate of every contestant that speaks TLS.
import { selfSigned } from '../../src/process/demo/self-signed.ts'
import { keep } from './launch.ts'

/** The paths of a certificate and its key, in PEM. */
interface IdentityFiles {
  readonly certificate: string
  readonly key: string
}

let made: IdentityFiles | null = null

/** Returns the files of a certificate with a key on P-256, good for what wrk takes for a name. */
export function identityFiles(): IdentityFiles {
  if (made === null) {
    const { cert, key } = selfSigned('127.0.0.1')
    made = { certificate: keep('server.pem', cert), key: keep('server.key', key) }
  }
  return made
}
