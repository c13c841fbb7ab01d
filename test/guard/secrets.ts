// Texts that patterns match, made here so that no file holds one.

const repeated = (text: string, length: number) =>
  text.repeat(Math.ceil(length / text.length)).slice(0, length)
const alphanumeric = (length: number) => repeated('aB3dE5gH7jK9', length)
const hex = (length: number) => repeated('0a1b2c3d4e5f6789', length)

const lines = Array.from({ length: 6 }, () => repeated('MIIEvQ+BADAN/Bgkqhk', 64)).join('\n')

export const pem = (kind = 'RSA PRIVATE KEY', body = lines) =>
  `-----BEGIN ${kind}-----\n${body}\nq8A=\n-----END ${kind}-----`

export const secrets: Readonly<Record<string, readonly string[]>> = {
  openai_key: [
    `sk-proj-${repeated('aB3_dE-5', 156)}`,
    `sk-${alphanumeric(48)}`,
    `sk-svcacct-${alphanumeric(60)}`,
  ],
  anthropic_key: [`sk-ant-api03-${repeated('aB3_dE-5', 95)}`],
  google_key: [`AIza${alphanumeric(35)}`, `ya29.${alphanumeric(120)}`, `GOCSPX-${alphanumeric(28)}`],
  ai_provider_key: [
    `sk-or-v1-${hex(64)}`,
    `sk-${hex(32)}`,
    `gsk_${alphanumeric(52)}`,
    `hf_${repeated('aBcDeFg', 34)}`,
    `r8_${alphanumeric(37)}`,
    `xai-${alphanumeric(80)}`,
    `pplx-${alphanumeric(48)}`,
    `nvapi-${alphanumeric(64)}`,
  ],
  aws_key: [`AKIA${repeated('Q3XZ7PL', 16)}`, `ASIA${repeated('Q3XZ7PL', 16)}`, `ABSK${alphanumeric(128)}`],
  azure_key: [`AccountKey=${alphanumeric(86)}==`],
  cloud_key: [`dop_v1_${hex(64)}`, `LTAI${alphanumeric(20)}`, `dapi${hex(32)}`],
  git_token: [`ghp_${alphanumeric(36)}`, `github_pat_${alphanumeric(82)}`, `glpat-${alphanumeric(20)}`],
  chat_token: [`xoxb-${repeated('1234567890-', 50)}a`],
  payment_key: [`sk_live_${alphanumeric(24)}`],
  service_token: [`svct_${alphanumeric(43)}`, `svcs_${repeated('aB3_dE-5', 43)}`],
  private_key: [pem(), pem('PRIVATE KEY'), pem('PGP PRIVATE KEY BLOCK', `Version: 1\n\n${lines}`)],
  card_number: [
    '4111111111111111',
    '4242 4242 4242 4242',
    '5555-5555-5555-4444',
    '2223003122003222',
    '378282246310005',
    '3782 822463 10005',
    '30569309025904',
    '3056 930902 5904',
    '6011111111111117',
    '3530111333300000',
    '6200000000000005',
  ],
}
