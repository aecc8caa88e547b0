import * as fc from 'fast-check';

import { systemClock } from '../../../nodes/CrmPlatform/base/clock';
import { randomRuns, isThorough } from '../../support/random-runs.ts';
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
