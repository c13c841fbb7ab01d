import assert from 'node:assert/strict'
import { test } from 'node:test'
import { CompiledRule } from '../../../src/access/rules/rules.ts'
import type { AccessCondition, AccessRule } from '../../../src/config/model/access-config.ts'
import { AddressTable } from '../../../src/net/address/address-table.ts'
import { inputOf } from './rule-input.ts'

const all = ['0.0.0.0/0', '::/0']
const sources = {
  lists: { get: () => AddressTable.of(all) },
  geo: { countryOf: () => 'DE', networkOf: () => 1 },
}

function compiled(
  condition: AccessCondition,
  action: AccessRule['action'] = 'deny',
  description: string | null = null,
): CompiledRule {
  return new CompiledRule({ action, condition, description }, 'rule 1', sources)
}

const addresses = ['192.0.2.1', '2001:db8::1'] as const

test('the error of a rule that denies says what it was about', () => {
  const agent = ['User-Agent', 'bot', 'Referer', 'https://a.test/']
  for (const [condition, ...errors] of [
    [{ kind: 'ip', networks: addresses }, 'ip_banned', 'ipv6_banned'],
    [{ kind: 'ip', networks: all }, 'ip_range_banned', 'ipv6_range_banned'],
    [{ kind: 'list', name: 'any' }, 'ip_list_banned', 'ipv6_list_banned'],
    [{ kind: 'country', countries: ['DE'] }, 'country_banned', 'ipv6_country_banned'],
    [{ kind: 'asn', numbers: [1] }, 'asn_banned', 'asn_banned'],
    [{ kind: 'user_agent', patterns: ['bot'] }, 'browser_signature_banned', 'browser_signature_banned'],
    [{ kind: 'referer', hosts: ['a.test'] }, 'hotlinking_denied', 'hotlinking_denied'],
    [{ kind: 'referer_not', hosts: ['b.test'] }, 'hotlinking_denied', 'hotlinking_denied'],
    [{ kind: 'path', prefixes: ['/'] }, 'firewall_rule_blocked', 'firewall_rule_blocked'],
    [{ kind: 'expression', text: 'true' }, 'firewall_rule_blocked', 'firewall_rule_blocked'],
  ] as const) {
    const rule = compiled(condition)
    for (const [i, address] of addresses.entries()) {
      const input = inputOf({ address, country: 'DE', network: 1, fields: agent })
      assert.equal(rule.matches(input), true, condition.kind)
      assert.equal(rule.refuse(input).error, errors[i], `${condition.kind} ${address}`)
      const legal = compiled(condition, 'legal').refuse(input).error
      assert.equal(legal, condition.kind === 'country' ? 'legal_country_block' : 'legal_block')
    }
  }
})

test('a refusal names the place of its rule, and the description', () => {
  const path = { kind: 'path', prefixes: ['/'] } as const
  for (const [rule, code] of [
    [compiled(path), 'rule 1'],
    [compiled(path, 'deny', 'no bots'), 'rule 1: no bots'],
  ] as const) {
    assert.deepEqual(rule.refuse(inputOf({})).cause, { code })
    assert.deepEqual([rule.fail().cause, rule.fail().error], [{ code }, 'access_protection_error'])
    assert.equal(rule.readsPath, true)
  }
})
