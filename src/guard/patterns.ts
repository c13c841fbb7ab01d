// The patterns that gateways can look for: what is secret, and has a form that hardly anything else has.

import { cardNumber } from './card-number.ts'
import { type KeyForm, keyPattern } from './key-pattern.ts'
import type { Pattern } from './pattern.ts'
import { privateKey } from './private-key.ts'

const form = (prefix: string, characters: KeyForm['characters'], min: number, max = min): KeyForm => ({
  ...{ prefix, characters, min, max },
})

/** Of examples in the documentation of AWS. */
const isExample = (key: string) => key.endsWith('EXAMPLE')

/** Names of campaigns (`websvcs_order_history_…`) are no secrets. */
const isWords = (key: string) => /^(?=[a-z\d_-]{32})(?:[a-z\d]+[_-]){2}/.test(key)
const ofService = (prefix: string): KeyForm => ({ ...form(prefix, 'token', 32, 64), isExample: isWords })

export const patterns: readonly Pattern[] = [
  keyPattern('openai_key', 'API keys of OpenAI', [
    form('sk-proj-', 'token', 40, 256),
    form('sk-svcacct-', 'token', 40, 256),
    form('sk-admin-', 'token', 40, 256),
    form('sk-None-', 'token', 40, 256),
    form('sk-', 'alphanumeric', 48, 51),
  ]),
  keyPattern('anthropic_key', 'API keys of Anthropic', [form('sk-ant-', 'token', 40, 256)]),
  keyPattern('google_key', 'API keys, access tokens and OAuth client secrets of Google', [
    form('AIza', 'token', 35),
    form('ya29.', 'dotted', 40, 2048),
    form('GOCSPX-', 'token', 28),
  ]),
  keyPattern('ai_provider_key', 'API keys of further AI providers', [
    form('sk-or-v1-', 'hex', 64),
    form('sk-', 'hex', 32),
    form('gsk_', 'alphanumeric', 52),
    form('hf_', 'letters', 34),
    form('r8_', 'alphanumeric', 37),
    form('xai-', 'alphanumeric', 80),
    form('pplx-', 'alphanumeric', 48),
    form('nvapi-', 'token', 60, 80),
  ]),
  keyPattern('aws_key', 'Access key ids and Bedrock API keys of AWS', [
    { ...form('AKIA', 'upper', 16), isExample },
    { ...form('ASIA', 'upper', 16), isExample },
    form('ABSK', 'base64', 100, 256),
  ]),
  keyPattern('azure_key', 'Account keys of Azure Storage', [form('AccountKey=', 'base64', 88)]),
  keyPattern('cloud_key', 'Tokens of DigitalOcean, Alibaba Cloud and Databricks', [
    form('dop_v1_', 'hex', 64),
    form('doo_v1_', 'hex', 64),
    form('LTAI', 'alphanumeric', 20, 24),
    form('dapi', 'hex', 32, 34),
  ]),
  keyPattern('git_token', 'Tokens of GitHub and GitLab', [
    form('ghp_', 'alphanumeric', 36),
    form('gho_', 'alphanumeric', 36),
    form('ghu_', 'alphanumeric', 36),
    form('ghs_', 'alphanumeric', 36),
    form('ghr_', 'alphanumeric', 36, 76),
    form('github_pat_', 'word', 82),
    form('glpat-', 'token', 20, 64),
  ]),
  keyPattern('chat_token', 'Tokens of Slack', [
    form('xoxb-', 'token', 24, 256),
    form('xoxp-', 'token', 24, 256),
    form('xoxa-', 'token', 24, 256),
    form('xoxr-', 'token', 24, 256),
    form('xoxs-', 'token', 24, 256),
    form('xapp-', 'token', 24, 256),
  ]),
  keyPattern('payment_key', 'Live keys of Stripe', [
    form('sk_live_', 'alphanumeric', 24, 247),
    form('rk_live_', 'alphanumeric', 24, 247),
  ]),
  keyPattern('service_token', 'Tokens and client secrets of this service', [
    ofService('svct_'),
    ofService('svco_'),
    ofService('svcr_'),
    ofService('svcs_'),
  ]),
  privateKey,
  cardNumber,
]

const byName: ReadonlyMap<string, Pattern> = new Map(patterns.map(pattern => [pattern.name, pattern]))

export const patternNames: readonly string[] = patterns.map(({ name }) => name)

/** Stands for all patterns, also for those that later versions add. */
export const everyPattern = '*'

/** Unknown names, as newer versions may have stored them, are none. */
export function patternsNamed(names: readonly string[]): readonly Pattern[] {
  return names.flatMap(name => byName.get(name) ?? [])
}
