import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { GeoDatabases } from '../../../src/access/files/geo.ts'
import { mmdb } from '../../help/mmdb.ts'
import { until } from '../../help/until.ts'
import { watchedFolder } from '../watched-folder.ts'

const countries = mmdb({
  '192.0.2.0/24': { country: { iso_code: 'DE' }, registered_country: { iso_code: 'AT' } },
  '192.0.2.128/25': { registered_country: { iso_code: 'FR' } },
  '2001:db8::/32': { country: { iso_code: 'SE' } },
})
const networks = mmdb(
  {
    '192.0.2.0/24': { autonomous_system_number: 64_500, autonomous_system_organization: 'x'.repeat(40) },
    '2001:db8::/32': { autonomous_system_number: 4_200_000_000 },
  },
  'Test-ASN',
)

test('the country is that of the address, else that where it is registered', async t => {
  const { databases, write } = setUp(t)
  const geo = await databases.open([write('country.mmdb', countries)])
  for (let again = 0; again < 2; again++) {
    assert.equal(geo.countryOf('192.0.2.1'), 'DE')
    assert.equal(geo.countryOf('192.0.2.129'), 'FR')
    assert.equal(geo.countryOf('2001:db8::1'), 'SE')
    for (const unknown of ['192.0.3.0', '2001:db9::', '::', ''])
      assert.equal(geo.countryOf(unknown), '', unknown)
  }
  assert.equal(geo.networkOf('192.0.2.1'), 0)
})

test('several databases know more than one', async t => {
  const { databases, write } = setUp(t)
  const geo = await databases.open([write('country.mmdb', countries), write('asn.mmdb', networks)])
  assert.equal(geo.countryOf('192.0.2.1'), 'DE')
  assert.equal(geo.networkOf('192.0.2.1'), 64_500)
  assert.equal(geo.networkOf('2001:db8::1'), 4_200_000_000)
})

test('more addresses than are remembered are found as well', async t => {
  const { databases, write } = setUp(t)
  const geo = await databases.open([write('country.mmdb', countries)])
  for (let round = 0; round < 2; round++)
    for (let i = 0; i < 20_000; i++)
      assert.equal(geo.countryOf(`192.0.${i >> 8}.${i & 127}`), i >> 8 === 2 ? 'DE' : '')
})

test('an invalid or missing file is refused by name, and what was open stays', async t => {
  const { databases, write } = setUp(t)
  const good = write('country.mmdb', countries)
  const geo = await databases.open([good])
  const message = '/nowhere/x.mmdb: cannot be read: ENOENT'
  await assert.rejects(databases.open([good, '/nowhere/x.mmdb']), { message })
  const cut = [countries.subarray(0, -40), countries.subarray(-200)]
  for (const bytes of [Buffer.alloc(0), Buffer.from('text'), Buffer.alloc(4096), ...cut]) {
    const bad = write('bad.mmdb', bytes)
    await assert.rejects(databases.open([bad]), { message: `${bad}: must be a MaxMind DB file` })
  }
  assert.equal(geo.countryOf('192.0.2.1'), 'DE')
})

test('a database that cannot be understood in some place says so there', async t => {
  const { databases, write } = setUp(t)
  const broken = Buffer.from(countries)
  // The control byte of the first record becomes an extended type that there is none of.
  broken.set([0x00, 0xf0], broken.indexOf('\xe2\x47country', 0, 'latin1'))
  const geo = await databases.open([write('broken.mmdb', broken)])
  assert.equal(geo.countryOf('192.0.2.1'), null)
  assert.equal(geo.networkOf('192.0.2.1'), null)
  assert.equal(geo.countryOf('192.0.2.129'), 'FR')
})

test('a country that is no text, or an AS number that is no number, is as broken', async t => {
  const { databases, write } = setUp(t)
  const odd = mmdb({
    '192.0.2.0/24': { country: { iso_code: 276 } },
    '198.51.100.0/24': { country: { iso_code: 'DE' }, autonomous_system_number: 'AS64500' },
  })
  const geo = await databases.open([write('odd.mmdb', odd)])
  for (const address of ['192.0.2.1', '198.51.100.1']) {
    assert.equal(geo.countryOf(address), null)
    assert.equal(geo.networkOf(address), null)
  }
})

test('a new file is loaded, an invalid one is logged once, and the previous one stays', async t => {
  const { databases, write, metrics, errors } = setUp(t)
  const path = write('country.mmdb', countries)
  const geo = await databases.open([path])
  assert.equal(geo.countryOf('192.0.2.1'), 'DE')
  write('country.mmdb', mmdb({ '192.0.2.0/24': { country: { iso_code: 'PL' } } }))
  await until(() => geo.countryOf('192.0.2.1') === 'PL')
  write('country.mmdb', Buffer.from('nothing'))
  await until(() => metrics.geoReloads.failure.value > 0)
  assert.equal(geo.countryOf('192.0.2.1'), 'PL')
  assert.equal(metrics.geoReloads.success.value, 1)
  assert.deepEqual(
    errors.map(({ reason }) => reason),
    [`${path}: must be a MaxMind DB file`],
  )
})

function setUp(t: TestContext) {
  const folder = watchedFolder(t)
  const databases = new GeoDatabases(folder)
  t.after(() => databases.close())
  return { databases, ...folder }
}
