import { engineSuite } from '../../bundles/apply/engine.suite.ts'
import { platformSuite } from '../../bundles/apply/platform.suite.ts'
import { storeSuite } from '../../bundles/apply/store.suite.ts'
import { databaseSuite } from './database.suite.ts'
import { engineUnderTest, temporaryDatabase, underTest } from './temporary.fake.ts'

storeSuite('SQLite', async clock => underTest(await temporaryDatabase({ clock })))
platformSuite('SQLite', async clock => underTest(await temporaryDatabase({ clock })))
databaseSuite('SQLite', clock => temporaryDatabase({ clock }))
engineSuite('SQLite', async clock => engineUnderTest(await temporaryDatabase({ clock }), clock))
