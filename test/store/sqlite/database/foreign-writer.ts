// Writes to a database, and has SQLite move what it wrote to the file, many times: a process of its own for a test.
import { Database } from '../../../../src/store/sqlite/database/database.ts'

const db = await Database.open(process.argv[2]!, { synchronous: 'NORMAL', timeout: 5_000 })
db.exec('CREATE TABLE IF NOT EXISTS noise (text TEXT)')
const insert = db.command('INSERT INTO noise VALUES (?)')
const clear = db.command('DELETE FROM noise WHERE rowid % 3 = 0')
for (let round = 0; round < 150; round++) {
  await db.write(() => {
    for (let i = 0; i < 40; i++) insert('x'.repeat(5_000))
    if (round % 5 === 0) clear()
  })
  db.checkpoint()
}
db.close()
