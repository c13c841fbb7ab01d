import assert from 'node:assert/strict'
import { test } from 'node:test'
import {
  answerInWords,
  clientText,
  proofText,
  recordText,
  type ShownClient,
  type ShownVerification,
} from '../../../../src/process/commands/client/view.ts'

const proof: ShownVerification = {
  status: 'in_progress',
  text: 'svc_oauth_client_publisher=00000000000000000000000000000000',
  host: 'app.example',
  last_answer: {
    at: '2026-01-01T00:00:10.000Z',
    outcome: 'no_match',
    records: ['v=spf1 -all', '\u001b[2J'],
    hint: 'take off the quotes',
  },
  next_check: '2026-01-01T00:00:25.000Z',
  deadline: '2026-01-03T00:00:00.000Z',
}

const client: ShownClient = {
  client_id: 'c'.repeat(32),
  client_name: 'Photos',
  visibility: 'private',
  token_endpoint_auth_method: 'client_secret_basic',
  grant_types: ['authorization_code'],
  response_types: ['code'],
  redirect_uris: ['https://app.example/a', 'https://app.example/b'],
  scopes: ['user.read'],
  optional_scopes: [],
  client_uri: 'https://app.example',
  client_uri_verification: proof,
  client_secrets: [
    { created_at: '2026-01-01T00:00:00.000Z', tail: 'wxyz', last_used_at: null },
    { created_at: '2025-01-01T00:00:00.000Z', tail: 'abcd', last_used_at: '2026-01-01T00:00:00.000Z' },
  ],
  has_rotated_secret: true,
  created_at: '2026-01-01T00:00:00.000Z',
  updated_at: '2026-01-01T00:00:00.000Z',
}

test('a client is shown by the names of the API, a line for each value, and nothing where there is none', () => {
  const lines = clientText(client).split('\n')
  const start = lines.findIndex(line => line.startsWith('redirect_uris'))
  assert.match(lines[start]!, /^redirect_uris +https:\/\/app\.example\/a$/)
  assert.match(lines[start + 1]!, /^ +https:\/\/app\.example\/b$/)
  assert.match(clientText(client), /^client_secrets +…wxyz, created 2026-\S+$/m)
  assert.match(clientText(client), /^ +…abcd, created 2025-\S+, last used 2026-01-01T00:00:00\.000Z$/m)
  assert.doesNotMatch(clientText(client), /optional_scopes|logo_uri|promoted_at|undefined|null/)
})

test('a pending verification shows the record, the DNS result, and the next check; no record can control the terminal', () => {
  const text = proofText(proof)
  for (const line of [
    /^status +in_progress$/m,
    /^record name +app\.example$/m,
    /^record type +TXT$/m,
    /^record value +svc_oauth_client_publisher=0{32}$/m,
    /^result +other TXT records found, but not this one: "v=spf1 -all", "\\u001b\[2J"$/m,
    /^hint +take off the quotes$/m,
    /^next check +2026-01-01T00:00:25\.000Z$/m,
    /^deadline +2026-01-03/m,
  ])
    assert.match(text, line)
  assert.ok(clientText(client).endsWith(`\n\n${text}`))
})

test('a verification that was never checked shows no result; one that is done asks for no record', () => {
  const { last_answer: _, ...fresh } = proof
  assert.doesNotMatch(proofText({ ...fresh, status: 'pending', next_check: null }), /result|last check|next/)
  const done = proofText({ ...proof, status: 'verified', verified_at: '2026-01-02T00:00:00.000Z' })
  assert.match(done, /^verified at +2026-01-02T/m)
  assert.doesNotMatch(done, /svc_oauth/)
})

test('the record to publish is a name, a type and a value', () => {
  assert.equal(
    recordText(proof),
    `record name   app.example\nrecord type   TXT\nrecord value  ${proof.text}\n`,
  )
})

test('an unknown outcome is shown as it is', () => {
  assert.equal(answerInWords({ at: '', outcome: 'lost', records: [] }), 'lost')
  assert.equal(answerInWords({ at: '', outcome: 'timeout', records: [] }), 'DNS timed out')
})
