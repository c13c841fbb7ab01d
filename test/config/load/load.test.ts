import { deepEqual, equal, match } from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { describe, type TestContext, test } from 'node:test'
import { type Loaded, loadConfig } from '../../../src/config/load/load.ts'
import { selfSigned } from '../../../src/process/demo/self-signed.ts'
import { Authority } from '../../help/certificates.ts'

const authority = new Authority()

describe('loadConfig', () => {
  test('reads the file, its references to the environment, and files relative to itself', t => {
    const folder = makeFolder(t, {
      'gatehouse.yaml': `name: \${NAME}\nerrors: { documentation: file:more/url }\nzones: []\n`,
      'more/url': 'https://docs.example\r\n',
    })
    const loaded = loadConfig(join(folder, 'gatehouse.yaml'), { NAME: 'edge' })
    equal('config' in loaded && loaded.config.name, 'edge')
    equal('config' in loaded && loaded.config.errors.documentation, 'https://docs.example')
    deepEqual(loaded.files, [join(folder, 'gatehouse.yaml'), join(folder, 'more/url')])
  })

  test('refuses a certificate with a key of another type, to clients and to origins', t => {
    const { certificate } = authority.issue(['a.example'], { key: 'rsa' })
    const { key } = authority.issue(['a.example'])
    const pair = 'certificate: file:cert.pem, key: file:key.pem'
    const folder = makeFolder(t, {
      'gatehouse.yaml': `tls: { certificates: [{ ${pair} }] }\npools: { a: { origins: [https://a.example], ${pair} } }\nzones: [{ default: on, routes: [{ path: /, pool: a }] }]\n`,
      'cert.pem': certificate,
      'key.pem': key,
    })
    const loaded = loadConfig(join(folder, 'gatehouse.yaml'), {})
    const fault = 'key cannot be used with the certificate (ERR_OSSL_X509_KEY_TYPE_MISMATCH)'
    deepEqual('mistakes' in loaded && loaded.mistakes.map(({ message }) => message), [fault, fault])
  })

  test('follows the certificate and key of a pool, and takes new ones once they fit together', t => {
    const [old, next] = [selfSigned('old.test'), selfSigned('next.test')]
    const pool = 'origins: [https://a.example], certificate: file:client.pem, key: '
    const folder = makeFolder(t, {
      'gatehouse.yaml': `pools: { a: { ${pool}"\${KEY:-}" } }\nzones: [{ default: on, routes: [{ path: /, pool: a }] }]\n`,
      'client.pem': old.cert,
    })
    const file = join(folder, 'gatehouse.yaml')
    const shownBy = (loaded: Loaded) =>
      'config' in loaded ? loaded.config.zones[0]!.routes[0]!.pool!.origins[0]!.tls.identity : null
    const loaded = loadConfig(file, { KEY: old.key })
    deepEqual(shownBy(loaded), { certificate: old.cert.trim(), key: old.key })
    deepEqual(loaded.files, [file, join(folder, 'client.pem')])
    writeFileSync(join(folder, 'client.pem'), next.cert)
    const halfway = loadConfig(file, { KEY: old.key })
    match(messageOf(halfway), /^key cannot be used with the certificate/)
    equal(JSON.stringify(halfway).includes('BEGIN'), false)
    deepEqual(shownBy(loadConfig(file, { KEY: next.key })), { certificate: next.cert.trim(), key: next.key })
  })

  test('passes warnings on', t => {
    const folder = makeFolder(t, {
      'gatehouse.yaml': 'pools: { a: { origins: [{ url: https://a, verify: off }] } }\nzones: []\n',
    })
    const loaded = loadConfig(join(folder, 'gatehouse.yaml'), {})
    match(('warnings' in loaded && loaded.warnings[0]?.message) || '', /verify is off/)
  })

  test('names files that cannot be read among those it depends on, since they may come', t => {
    const folder = makeFolder(t, { 'gatehouse.yaml': 'name: file:later\nzones: []\n' })
    const loaded = loadConfig(join(folder, 'gatehouse.yaml'), {})
    match(messageOf(loaded), /file later, which cannot be read \(ENOENT\)/)
    deepEqual(loaded.files, [join(folder, 'gatehouse.yaml'), join(folder, 'later')])
  })

  test('finds files that are read elsewhere, and depends on those that are missing alone', t => {
    const folder = makeFolder(t, {
      'gatehouse.yaml': 'lists: { a: more/a.txt, b: b.txt, c: more }\nzones: []\n',
      'more/a.txt': '10.0.0.1\n',
    })
    const loaded = loadConfig(join(folder, 'gatehouse.yaml'), {})
    deepEqual('mistakes' in loaded && loaded.mistakes.map(({ path, message }) => [path, message]), [
      ['lists.b', 'b must be the path of a file that can be read (ENOENT); got "b.txt"'],
      ['lists.c', 'c must be the path of a file that can be read (EISDIR); got "more"'],
    ])
    deepEqual(loaded.files, [join(folder, 'gatehouse.yaml'), join(folder, 'b.txt'), join(folder, 'more')])
    writeFileSync(join(folder, 'gatehouse.yaml'), 'lists: { a: more/a.txt }\nzones: []\n')
    const better = loadConfig(join(folder, 'gatehouse.yaml'), {})
    deepEqual('config' in better && better.config.lists, [{ name: 'a', path: join(folder, 'more/a.txt') }])
    deepEqual(better.files, [join(folder, 'gatehouse.yaml')])
  })

  test('gives a mistake for a file that is missing or a folder', t => {
    const folder = makeFolder(t, {})
    match(messageOf(loadConfig(join(folder, 'gatehouse.yaml'), {})), /cannot be read \(ENOENT\)/)
    match(messageOf(loadConfig(folder, {})), /cannot be read \(EISDIR\)/)
  })

  test('gives the place where a file stops being UTF-8', t => {
    const folder = makeFolder(t, { 'gatehouse.yaml': Buffer.from('zones: []\nname: b\xfcro\n', 'latin1') })
    const loaded = loadConfig(join(folder, 'gatehouse.yaml'), {})
    deepEqual('mistakes' in loaded && loaded.mistakes, [
      { line: 2, column: 8, path: '', message: 'invalid UTF-8 from here on' },
    ])
  })
})

function makeFolder(t: TestContext, files: Readonly<Record<string, string | Buffer>>): string {
  const folder = mkdtempSync(join(tmpdir(), 'gatehouse-load-'))
  t.after(() => rmSync(folder, { recursive: true }))
  mkdirSync(join(folder, 'more'))
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder, name), content)
  return folder
}

function messageOf(loaded: Loaded): string {
  return ('mistakes' in loaded && loaded.mistakes[0]?.message) || ''
}
