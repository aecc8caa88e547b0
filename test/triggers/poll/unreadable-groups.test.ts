import { forgetN8n } from '../../../nodes/CrmPlatform/trigger/poll/starts';
import { forgetStates } from '../../../nodes/CrmPlatform/trigger/storedState';
import { dispatcherOf, groupOf, loaded } from './open-groups.ts';

afterEach(() => {
	forgetN8n();
	forgetStates();
});

describe('a group that cannot be read as a whole', () => {
	/** A group of two events, of which the second cannot be read. */
	function halfReadable(isFinal: boolean, items = loaded.items) {
		const world = dispatcherOf();
		const { clock, dispatcher, position, startDue } = world;
		const { timestamps, ...first } = groupOf('a');
		position.open = [{ ...first, ids: ['a', 'b'], records: ['a', 'b'], sequences: [1, 2], timestamps: [...timestamps, ...timestamps] }];
		const ids = items.length === 0 ? ['a', 'b'] : ['b'];
		const load = jest.fn(async () => ({ items, failures: [{ ids, error: new Error('no answer'), isFinal }] }));
		const readUntilDue = async () => {
			await startDue(load);
			const wait = dispatcher.nextDue(clock.now()) - clock.now();
			if (Number.isFinite(wait)) await clock.advance(wait);
			return wait;
		};
		return { ...world, load, readUntilDue };
	}

	test('waits longer each time, and starts without the unreadable part after the fourth reading', async () => {
		const { clock, position, started, load, dispatcher, readUntilDue, startDue } = halfReadable(true);
		const waits = [await readUntilDue(), await readUntilDue(), await readUntilDue()];
		expect([waits, started.length, load.mock.calls.map(([, tries]: unknown[]) => tries)]).toEqual([[5_000, 10_000, 20_000], 0, [0, 1, 2]]);
		await startDue(load);
		expect(started).toHaveLength(1);
		expect(position.open.map(({ ids }) => ids)).toEqual([['a'], ['b']]);
		expect(dispatcher.nextDue(clock.now()) - clock.now()).toBe(40_000);
	});

	test('is not read before it is due', async () => {
		const { load, startDue } = halfReadable(true);
		await startDue(load);
		await startDue(load);
		expect(load).toHaveBeenCalledTimes(1);
	});

	test('ends if its execution exists, as all of it was readable before', async () => {
		const { position, started, reported, state, readUntilDue } = halfReadable(true);
		position.open[0]!.isEmitted = true;
		state.hasExecution = true;
		for (let i = 0; i < 4; i++) await readUntilDue();
		// It is attempted again, as its execution may have failed.
		expect([started, position.open.map(({ attempt }) => attempt), reported]).toEqual([[], [2], []]);
	});

	test('is set aside and reported if the service refuses all of it', async () => {
		const { position, started, reported, readUntilDue } = halfReadable(true, []);
		for (let i = 0; i < 4; i++) await readUntilDue();
		expect([started, position.open]).toEqual([[], []]);
		expect(reported).toEqual([expect.stringContaining('set aside')]);
	});

	test('waits for as long as the service does not answer, and is reported once', async () => {
		const { position, started, reported, readUntilDue } = halfReadable(false, []);
		for (let i = 0; i < 3; i++) await readUntilDue();
		expect(reported).toEqual([]);
		for (let i = 0; i < 3; i++) await readUntilDue();
		expect([started.length, position.open.length]).toEqual([0, 1]);
		expect(reported).toEqual([expect.stringContaining('could not be read yet')]);
	});

	test('is split into its readable events and each unreadable part, of which a refusal of one is no refusal of another', async () => {
		const { clock, position, startDue } = dispatcherOf();
		const all = ['a', 'b', 'c'];
		position.open = [{ ...groupOf('a'), ids: all, records: all, sequences: [1, 2, 3], timestamps: all.map(() => '2026-06-01T00:00:00Z') }];
		const failuresOf = (ids: string[]) => ids.map((id) => ({ ids: [id], error: new Error('no answer'), isFinal: id === 'b' }));
		for (let i = 0; i < 4; i++) {
			await startDue(async () => ({ ...loaded, failures: failuresOf(i < 3 ? all : ['b', 'c']) }));
			await clock.advance(60_000);
		}
		expect(position.open.map(({ ids }) => ids)).toEqual([['a'], ['b'], ['c']]);
	});

	test('is not set aside while the service refuses only a part of it', async () => {
		const { clock, position, startDue, reported } = dispatcherOf();
		const timestamps = ['2026-06-01T00:00:00Z', '2026-06-01T00:00:00Z'];
		position.open = [{ ...groupOf('a'), ids: ['a', 'b'], records: ['a', 'b'], sequences: [1, 2], timestamps }];
		const failures = ['a', 'b'].map((id) => ({ ids: [id], error: new Error('no answer'), isFinal: id === 'b' }));
		for (let i = 0; i < 4; i++) {
			await startDue(async () => ({ items: [], failures }));
			await clock.advance(60_000);
		}
		expect([position.open.length, reported]).toEqual([1, [expect.stringContaining('could not be read yet')]]);
	});
});
