// Measures what a token costs at each call, in ns: node bench/micro/tokens/verify.ts
import { AiMetrics } from '../../../src/metrics/counters/ai-metrics.ts'
import type { Token } from '../../../src/store/records/records.ts'
import type { Store } from '../../../src/store/contract/store.ts'
import { permissionGroups } from '../../../src/permissions/permission-groups.ts'
import { permits } from '../../../src/permissions/permit.ts'
import { mintToken } from '../../../src/tokens/token.ts'
import { TokenVerifier } from '../../../src/tokens/verify.ts'

const rounds = 7
const calls = 200_000
const account = '0123456789abcdef0123456789abcdef'
const address = '192.0.2.7'

const kept = Array.from({ length: 1_000 }, (_, i) => keep(i))
const acting = kept.map(({ token }) => actingFor(token))
const byDigest = new Map(acting.map(({ token }) => [token.digest, token]))
const verifier = new TokenVerifier({
  store: storeOf(kept),
  grace: 600_000,
  metrics: new AiMetrics(),
  access: {
    find: async digest => byDigest.get(digest) ?? null,
    kinds: [],
    concerns: () => false,
    endedBy: () => null,
  },
})
const values = kept.map(({ value }) => value)
const misses = Array.from({ length: 1_000 }, () => mintToken().value)
const access = acting.map(({ value }) => value)
const accessMisses = Array.from({ length: 1_000 }, () => mintToken('svco_').value)
for (const value of [...values, ...misses, ...access, ...accessMisses])
  await verifier.verify(value, address, 'ai')

measure('hit', values, value => verifier.verify(value, address, 'ai'))
measure('remembered miss', misses, value => verifier.verify(value, address, 'ai'))
measure('access token: hit', access, value => verifier.verify(value, address, 'ai'))
measure('access token: miss', accessMisses, value => verifier.verify(value, address, 'ai'))
measure('malformed: checksum', values.map(spoil), value => verifier.verify(value, address, 'ai'))
measure('malformed: length', ['svct_'], value => verifier.verify(value, address, 'ai'))
measure('permits', ['AI Gateway Run'] as const, name => permits(kept[0]!.token, name, account))

function keep(i: number): { value: string; token: Token } {
  const { value, digest } = mintToken()
  const id = i.toString(16).padStart(32, '0')
  const policies: Token['policies'] = [
    { id, effect: 'allow', permissionGroups: permissionGroups.map(group => group.id), accounts: [account] },
  ]
  const times = { notBefore: 0, expiresOn: Date.now() + 3_600_000, issuedOn: 0, modifiedOn: 0 }
  const addresses = { addressesIn: i % 2 === 0 ? ['192.0.2.0/24'] : [], addressesNotIn: [] }
  return {
    value,
    token: { account, id, name: `token ${i}`, digest, status: 'active', policies, ...times, ...addresses },
  }
}

/** Makes what stands for an access token, otherwise like a token of the API. */
function actingFor(token: Token): { value: string; token: Token } {
  const { value, digest } = mintToken('svco_')
  const app = { user: 'u', email: 'ann@example.com', client: 'c', clientName: 'An app' }
  const actor = {
    ...app,
    grant: 'g',
    end: null,
    members: [],
    scopes: [],
    apis: ['management', 'ai'],
  } as const
  return { value, token: { ...token, digest, actor } }
}

/** Stands in for the store, which a remembered token never asks. */
function storeOf(tokens: readonly { token: Token }[]): Store {
  const byDigest = new Map(tokens.map(({ token }) => [token.digest, token]))
  const changes = { follow: () => () => {}, knownUntil: Number.MAX_SAFE_INTEGER }
  return {
    tokens: { findByDigest: async (digest: string) => byDigest.get(digest) ?? null },
    changes,
  } as unknown as Store
}

function spoil(value: string): string {
  return `${value.slice(0, -1)}${value.endsWith('A') ? 'Q' : 'A'}`
}

/** Prints the median over some rounds. */
function measure<Key extends string>(name: string, keys: readonly Key[], call: (key: Key) => unknown): void {
  const times = Array.from({ length: rounds }, () => timeOne(keys, call)).sort((a, b) => a - b)
  console.log(`${name.padEnd(24)} ${times[rounds >> 1]!.toFixed(0).padStart(5)} ns`)
}

function timeOne<Key extends string>(keys: readonly Key[], call: (key: Key) => unknown): number {
  const began = performance.now()
  for (let i = 0; i < calls; i++) call(keys[i % keys.length]!)
  return ((performance.now() - began) * 1e6) / calls
}
