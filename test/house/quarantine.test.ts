// Each outside package has its home, so that replacing one is the work of a file or two.

import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { root, sourceFiles } from '../help/source.ts'

const homes: Readonly<Record<string, readonly string[]>> = {
  '@bufbuild/re2': ['expression/pattern.ts'],
  '@marcbachmann/cel-js': [
    ...['expression/language.ts', 'expression/meter.ts', 'expression/package-internals.ts'],
    'expression/work.ts',
  ],
  '@simplewebauthn/server': ['people/passkeys/verify.ts'],
  aws4: ['edge/cloud-keys/aws.ts'],
  'acme-client': ['process/certificates/acme-authority.ts'],
  ioredis: ['store/redis/server/connect.ts'],
  jose: ['protect/identity.ts', 'protect/jwt.ts'],
  'lru-cache': [
    'limits/limiter.ts',
    'store/cache/read-through.ts',
    'answers/answer-cache.ts',
    'edge/gates/jwt-gate.ts',
  ],
  marked: ['admin/docs/guides.ts'],
  maxmind: ['access/files/geo.ts'],
  'oidc-provider': ['oauth-server/engine/engine.ts'],
  negotiator: ['edge/encoding/accept-encoding.ts', 'errors/audience/negotiate.ts'],
  'openid-client': ['people/openid/openid-provider.ts'],
  pino: ['log/log.ts'],
  'prom-client': ['metrics/metrics.ts'],
  qr: ['pages/parts/qr.ts'],
  tldts: ['domains/host.ts'],
  undici: [
    'net/http/guarded-client.ts',
    'edge/cloud-keys/key-call.ts',
    'edge/gates/forward-gate.ts',
    'edge/gates/key-set.ts',
    'log-export/https-receiver.ts',
  ],
  yaml: ['config/file/read-tree.ts', 'errors/render/markdown.ts'],
}

test('packages are imported in their homes and nowhere else', () => {
  const strays = sourceFiles().flatMap(({ path, packages }) =>
    packages.filter(name => !homes[name]?.includes(path)).map(name => `${path} imports ${name}`),
  )
  assert.deepEqual(strays, [])
})

test('the packages that have a home are the dependencies of the product', () => {
  const { dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  assert.deepEqual(Object.keys(dependencies).sort(), Object.keys(homes).sort())
})
