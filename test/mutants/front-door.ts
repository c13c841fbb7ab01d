// Mutations of what clients can do before a request: handshakes, headers of load balancers, certificates and sessions.

import type { Mutated } from './mutation.ts'

export const frontDoor: readonly Mutated[] = [
  {
    file: 'edge/accept/proxy-header.ts',
    tests: ['edge/accept/proxy-header'],
    changes: [
      {
        text: 'bytes.subarray(0, longestLine).indexOf(0x0a)',
        becomes: 'bytes.indexOf(0x0a)',
        breaks: 'a header of version 1 is read beyond its end',
      },
      {
        text: 'isOfFamily(source) && isOfFamily(destination)',
        becomes: 'isOfFamily(source)',
        breaks: 'a line that is none names a client',
      },
      {
        text: "if (bytes[end - 1] !== 0x0d) return 'malformed'",
        becomes: '',
        breaks: 'a header ends where a load balancer has not ended it',
      },
      {
        text: 'return at === header.length && (',
        becomes: 'return (',
        breaks: 'addresses and TLVs may reach beyond their header',
      },
      {
        text: 'header.readUInt32BE(at) === crc32c(header, at, at + 4)',
        becomes: 'true',
        breaks: 'a header that was changed on its way names a client',
      },
      {
        text: 'length !== 4 || checksumAt !== -1',
        becomes: 'length !== 4',
        breaks: 'a header may have two checksums, of which one is wrong',
      },
    ],
  },
  {
    file: 'edge/accept/proxied-connection.ts',
    tests: ['wire/proxy-protocol'],
    changes: [
      {
        text: "if (now >= this.deadline) this.#fail('timeout')",
        becomes: '',
        breaks: 'connections without a header last for ever',
      },
      {
        text: 'isAnonymous: client === null,',
        becomes: 'isAnonymous: false,',
        breaks: 'a client that the balancer does not know may give itself any address',
      },
    ],
  },
  {
    file: 'edge/accept/clients.ts',
    tests: ['wire/proxy-protocol'],
    changes: [
      {
        text: 'this.#move(proxied, client.peer, again)',
        becomes: 'null',
        breaks: 'behind a load balancer a client may have any number of connections',
      },
    ],
  },
  {
    file: 'edge/accept/handshake.ts',
    tests: ['wire/tls-clients'],
    changes: [
      {
        text: 'secured.disableRenegotiation()',
        becomes: '',
        breaks: 'a client may have any number of handshakes in a connection',
      },
      {
        text: "if (now >= this.#deadline) this.#fail('timeout')",
        becomes: '',
        breaks: 'a handshake that does not go on holds its place for ever',
      },
      {
        text: 'cutAtViolations(secured, this.#socket, this.#plane)',
        becomes: '',
        breaks: 'a connection on which TLS has broken stays',
      },
      {
        text: 'hello.isValidation ? challenges.contextFor(serverName) : null',
        becomes: 'challenges.contextFor(serverName)',
        breaks: 'clients get the certificate of a validation while an order is under way',
        tests: ['edge/challenge'],
      },
      {
        text: "requestCert: aim.trust !== '',",
        becomes: 'requestCert: true,',
        breaks: 'every client is asked for a certificate, which browsers ask people for',
        tests: ['edge/client-certificate'],
      },
    ],
  },
  {
    file: 'edge/accept/clients.ts',
    tests: ['edge/client-certificate'],
    changes: [
      {
        text: "tls.trust !== (zones.find(tls.host)?.trust ?? '')",
        becomes: 'false',
        breaks: 'clients stay connected by certificates of authorities that are no longer trusted',
      },
    ],
  },
  {
    file: 'edge/exchange/client-certificate.ts',
    tests: ['edge/client-certificate'],
    changes: [
      {
        text: 'return tls.trust === trust ? tls.certificate : null',
        becomes: 'return tls.certificate',
        breaks: 'a certificate that another zone accepted counts in the rules of all',
      },
      {
        text: 'return isGood(x, certificate) ? null : refusals.expired',
        becomes: 'return null',
        breaks: 'a connection outlives its certificate',
      },
    ],
  },
  {
    file: 'edge/steps/secure.ts',
    tests: ['edge/secure', 'edge/client-certificate', 'wire/http2'],
    changes: [
      {
        text: "return trust === (zone?.trust ?? '') && certificates",
        becomes: 'return certificates',
        breaks: 'a connection that was asked for no certificate is shared with a zone that asks for one',
      },
      {
        text: 'x.zone === null ? ai?.hosts.has(serverName) === true : zones.find(serverName) === x.zone',
        becomes: 'true',
        breaks: 'TLS for one zone leads to any other one',
      },
      {
        text: '&& certificates.find(serverName) === certificates.find(host)',
        becomes: '',
        breaks: 'a connection is shared with hosts that its certificate is not good for',
      },
    ],
  },
  {
    file: 'edge/steps/challenge.ts',
    tests: ['edge/challenge'],
    changes: [
      {
        text: "if (method !== 'GET' && method !== 'HEAD') return false",
        becomes: '',
        breaks: 'requests that change something never reach their origin',
      },
    ],
  },
  {
    file: 'tls/client-hello.ts',
    tests: ['tls/client-hello'],
    changes: [
      {
        text: 'serverName === null ? hostNameIn(content) : null',
        becomes: 'hostNameIn(content)',
        breaks: 'a hello with two names leads to another host here than in OpenSSL',
      },
      {
        text: 'isWhole && type === hostNameType && /^[!-~]+$/.test(name)',
        becomes: 'isWhole && type === hostNameType',
        breaks: 'a name with control characters gets into logs',
      },
      {
        text: "if (length === 0 || ++records > mostRecords) return 'client_hello'",
        becomes: '',
        breaks: 'a hello in any number of records is joined over and over',
      },
    ],
  },
  {
    file: 'tls/distinguished-name.ts',
    tests: ['tls/client-certificate', 'edge/client-certificate'],
    changes: [
      {
        text: "return visible(parts.reverse().join(','))",
        becomes: "return parts.reverse().join(',')",
        breaks: 'a name in a certificate adds lines to requests',
      },
    ],
  },
  {
    file: 'certificates/client-trust.ts',
    tests: ['edge/client-certificate'],
    changes: [
      {
        text: 'JSON.stringify([client.authorities, client.revocationLists])',
        becomes: 'JSON.stringify([client.authorities])',
        breaks: 'a new revocation list leaves those connected whom it names',
      },
    ],
  },
  {
    file: 'certificates/certificates.ts',
    tests: ['wire/tls-clients', 'certificates/certificates', 'edge/secure'],
    changes: [
      {
        text: 'sessionIdContext: digest.slice(0, longestIdContext),',
        becomes: "sessionIdContext: 'all',",
        breaks: 'a session is resumed under another certificate than it began with',
      },
      {
        text: 'const key = `${isFips} ${trustOf(client)} ${ciphers}`',
        becomes: 'const key = `${isFips} ${ciphers}`',
        breaks: 'certificates are checked by the authorities of another zone',
        tests: ['edge/client-certificate'],
      },
    ],
  },
  {
    file: 'certificates/by-name.ts',
    tests: ['certificates/holdings', 'certificates/certificates', 'wire/tls-clients'],
    changes: [
      {
        text: 'if (exact !== undefined) return exact',
        becomes: '',
        breaks: 'a host gets the certificate of all names beside it in place of its own',
      },
    ],
  },
  {
    file: 'certificates/ticket-keeper.ts',
    tests: ['certificates/ticket-keeper'],
    changes: [
      {
        text: 'for (const startsAt of [start, start + period])',
        becomes: 'for (const startsAt of [start])',
        breaks: 'machines seal with keys that others do not have yet',
      },
    ],
  },
]
