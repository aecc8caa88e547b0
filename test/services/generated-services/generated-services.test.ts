import * as fc from 'fast-check';

import { systemClock } from '../../../nodes/CrmPlatform/base/clock';
import { getMatchFields, getSortOrders } from '../../../nodes/CrmPlatform/pickers/listOptions';
import { getFields } from '../../../nodes/CrmPlatform/pickers/mapperFields';
import { searchRecords } from '../../../nodes/CrmPlatform/pickers/searchPickers';
import { picker } from '../../support/node-runs.ts';
import { randomRuns, isThorough } from '../../support/random-runs.ts';
import { dialects } from './dialect.ts';
import { brokenScenarioPromises, playScenario, scenarios, type Scenario } from './scenario.ts';
import { startGeneratedServer, type GeneratedServer } from './generated-server.ts';

const runs = randomRuns(60, 2026);
/** Milliseconds after which the suite's own runs end, on a slow machine. */
const timeLimit = isThorough ? {} : { interruptAfterTimeLimit: 20_000 };

let server: GeneratedServer;
beforeAll(async () => void (server = await startGeneratedServer()));
afterAll(async () => await server.close());

// Waits take no time, but are counted.
let passed = 0;
const clock = { pass: (ms: number) => void (passed += ms) };
beforeEach(() => {
	jest.spyOn(systemClock, 'now').mockImplementation(() => Date.now() + passed);
	jest.spyOn(systemClock, 'sleep').mockImplementation(async (ms) => await Promise.resolve(clock.pass(ms)));
});
afterEach(() => jest.restoreAllMocks());

const checkPromises = async (scenario: Scenario) => {
	const outcome = await playScenario(server, clock, scenario);
	const broken = brokenScenarioPromises(scenario, outcome);
	if (broken.length === 0) return;
	const attemptDetails = outcome.attempts.map(({ items, hints, error }) =>
		JSON.stringify({ items, hints, error: error && [error.message, (error as { description?: unknown }).description] }),
	);
	throw new Error([...broken, ...attemptDetails, ...outcome.service.requests].join('\n'));
};

test('whatever the CRM, nothing is lost, duplicated or guessed', async () => {
	await fc.assert(fc.asyncProperty(scenarios, checkPromises), { ...runs, ...timeLimit });
}, 300_000 + runs.numRuns * 500);

test('the fields, orders and records that forms offer come from the CRM: the node searches if the CRM cannot', async () => {
	const [dialect] = fc.sample(dialects, { numRuns: 1, seed: 1 });
	const names = { text: 'family_name', count: 'headcount', match: 'code', batch: 'items' };
	const { url } = server.open({ ...dialect!, names }, [], 12);
	const opened = (operation: string) => ({ credential: { baseUrl: url, apiKey: url }, parameters: { resource: 'contact', operation } });
	expect((await picker(getFields, opened('create'))).fields.map(({ id }) => id)).toEqual(['family_name', 'headcount', 'code']);
	expect((await picker(getMatchFields, opened('upsert'))).map(({ value }) => value)).toEqual(['', 'code']);
	expect((await picker(getSortOrders, opened('getMany'))).map(({ value }) => value)).toContain('newest first');
	const { results } = await picker(searchRecords, opened('get'), 'con_1');
	expect(results.map(({ value }) => value)).toEqual(['con_1', 'con_10', 'con_11', 'con_12']);
});
