import * as fc from 'fast-check';
import { Workflow, type INodeTypes } from 'n8n-workflow';
import { z } from 'zod';

import { clearProcessMemory } from '../../../nodes/CrmPlatform/base/processMemory';
import { readState, storeState, type StateKeeper } from '../../../nodes/CrmPlatform/trigger/storedState';
import { randomRuns } from '../../support/random-runs.ts';

const schema = z.object({ at: z.number() });
const triggers = ['poll', 'records', 'webhook'] as const;
type Trigger = (typeof triggers)[number];

const workflowOf = (staticData: string) =>
	new Workflow({ id: 'w', nodes: [], connections: {}, active: true, nodeTypes: {} as INodeTypes, staticData: JSON.parse(staticData) });

function keeper(workflow: Workflow, id: string, owner: { instance?: string; workflow?: string; name?: string } = {}): StateKeeper {
	const type = id === 'webhook' ? 'CUSTOM.crmPlatformTrigger' : 'n8n-nodes-crm-platform.crmPlatformPollTrigger';
	return {
		getInstanceId: () => owner.instance ?? 'n8n-1',
		getWorkflow: () => ({ id: owner.workflow ?? 'w', active: true }),
		getNode: () => ({ id, name: owner.name ?? id, type }),
		getWorkflowStaticData: (kind: string) => workflow.getStaticData(kind),
	} as unknown as StateKeeper;
}

/** n8n as far as static data goes: each registration has a copy, and each store writes one copy as a whole. */
class StaticDataOfN8n {
	stored = '{}';
	readonly copies = new Map<Trigger, Workflow>();

	/** A publish that has found these triggers changed, or a start of n8n with all of them. */
	register(changed: readonly Trigger[]): void {
		const copy = workflowOf(this.stored);
		for (const trigger of changed) this.copies.set(trigger, copy);
		for (const trigger of changed) readState(this.keeper(trigger), schema);
	}

	store(trigger: Trigger): void {
		this.stored = JSON.stringify(this.copies.get(trigger)!.staticData);
	}

	/** By trigger, as the database has them. */
	placesInStore(): Record<string, number> {
		const { global = {} } = JSON.parse(this.stored) as { global?: Record<string, { state: { at: number } }> };
		return Object.fromEntries(Object.entries(global).map(([name, { state }]) => [name.split(':')[1]!, state.at]));
	}

	keeper = (trigger: Trigger) => keeper(this.copies.get(trigger)!, trigger);
}

beforeEach(clearProcessMemory);
afterEach(() => void jest.restoreAllMocks());

const step = fc.oneof(
	fc.record({ do: fc.constant('store' as const), trigger: fc.constantFrom(...triggers) }),
	fc.record({ do: fc.constant('publish' as const), changed: fc.subarray([...triggers], { minLength: 1 }) }),
	fc.record({ do: fc.constant('restart' as const) }),
	fc.record({ do: fc.constant('set back by another node' as const), to: fc.nat(20) }),
);

test('whatever is published, killed or set back, no trigger sets back the state of another', () => {
	const histories = fc.array(step, { minLength: 1, maxLength: 25 });
	let clock = 1_700_000_000_000;
	jest.spyOn(Date, 'now');
	fc.assert(
		fc.property(histories, (history) => {
			clearProcessMemory();
			const n8n = new StaticDataOfN8n();
			n8n.register(triggers);
			const earlier = [n8n.stored];
			const newest = new Map<Trigger, number>();
			let count = 0;
			/** A process learns what it finds in the store, if it is newer. */
			const learn = () => {
				for (const [id, at] of Object.entries(n8n.placesInStore())) {
					newest.set(id as Trigger, Math.max(at, newest.get(id as Trigger) ?? 0));
				}
			};
			for (const action of history) {
				jest.mocked(Date.now).mockReturnValue((clock += 1000));
				if (action.do === 'publish') {
					n8n.register(action.changed);
					learn();
				} else if (action.do === 'store') {
					newest.set(action.trigger, (count += 1));
					storeState(n8n.keeper(action.trigger), { at: count });
					n8n.store(action.trigger);
					earlier.push(n8n.stored);
					// What any of them had stored would outlive a kill now.
					expect(n8n.placesInStore()).toEqual(Object.fromEntries(newest));
				} else if (action.do === 'set back by another node') {
					n8n.stored = earlier[action.to % earlier.length]!;
				} else {
					clearProcessMemory();
					n8n.register(triggers);
					newest.clear();
					learn();
				}
				for (const id of triggers) expect(readState(n8n.keeper(id), schema)?.at).toBe(newest.get(id));
			}
		}),
		randomRuns(2_000),
	);
});

test('a state belongs to one workflow of one n8n', () => {
	const workflow = workflowOf('{}');
	storeState(keeper(workflow, 'poll'), { at: 1 });
	for (const other of [{ workflow: 'copy' }, { instance: 'n8n-2' }]) {
		clearProcessMemory();
		expect(readState(keeper(workflow, 'poll', other), schema)).toBeUndefined();
	}
	storeState(keeper(workflow, 'poll', { workflow: 'copy' }), { at: 2 });
	expect(readState(keeper(workflow, 'poll', { workflow: 'copy' }), schema)).toEqual({ at: 2 });
});

test('a renamed trigger keeps its state, and a trigger of another type has its own', () => {
	const workflow = workflowOf('{}');
	storeState(keeper(workflow, 'poll'), { at: 1 });
	expect(readState(keeper(workflow, 'poll', { name: 'New deals' }), schema)).toEqual({ at: 1 });
	expect(readState(keeper(workflow, 'webhook'), schema)).toBeUndefined();
});

test('the stored state does not change with later changes of the state, nor of what was read', () => {
	const workflow = workflowOf('{}');
	const state = { at: 1, open: [{ id: 'a' }] };
	storeState(keeper(workflow, 'poll'), state);
	state.open.push({ id: 'b' });
	const read = readState(keeper(workflow, 'poll'), z.object({ open: z.array(z.object({ id: z.string() })) }))!;
	read.open.pop();
	expect(JSON.stringify(workflow.staticData)).toContain('"open":[{"id":"a"}]');
	expect(readState(keeper(workflow, 'poll'), z.object({ open: z.array(z.object({ id: z.string() })) }))!.open).toHaveLength(1);
});

test('reading marks nothing as changed, so n8n stores nothing for it', () => {
	const writer = workflowOf('{}');
	storeState(keeper(writer, 'poll'), { at: 1 });
	const reader = workflowOf(JSON.stringify(writer.staticData));
	readState(keeper(reader, 'poll'), schema);
	expect(reader.staticData.__dataChanged).toBe(false);
	storeState(keeper(reader, 'poll'), { at: 2 });
	expect(reader.staticData.__dataChanged).toBe(true);
});

test('a later state of another process is newer, even if that missed earlier ones', () => {
	const clock = jest.spyOn(Date, 'now').mockReturnValue(1_000_000);
	const first = workflowOf('{}');
	storeState(keeper(first, 'poll'), { at: 1 });
	const second = workflowOf(JSON.stringify(first.staticData));
	for (const at of [2, 3]) storeState(keeper(first, 'poll'), { at });

	clearProcessMemory();
	clock.mockReturnValue(2_000_000);
	storeState(keeper(second, 'poll'), { at: 4 });
	clearProcessMemory();
	expect(readState(keeper(first, 'poll'), schema)).toEqual({ at: 3 });
	expect(readState(keeper(second, 'poll'), schema)).toEqual({ at: 4 });
});

test('a state that a superseded process stores late is older than that of the process that took over, whatever their clocks', () => {
	const clock = jest.spyOn(Date, 'now').mockReturnValue(2_000_000);
	const superseded = workflowOf('{}');
	storeState(keeper(superseded, 'poll'), { at: 1 });
	const next = workflowOf(JSON.stringify(superseded.staticData));

	clearProcessMemory();
	clock.mockReturnValue(1_000_000);
	storeState(keeper(next, 'poll'), { at: 2 }, { isTakeover: true });
	const stored = JSON.stringify(next.staticData);

	clearProcessMemory();
	clock.mockReturnValue(3_000_000);
	storeState(keeper(superseded, 'poll'), { at: 3 });

	clearProcessMemory();
	expect(readState(keeper(workflowOf(stored), 'poll'), schema)).toEqual({ at: 2 });
	expect(readState(keeper(superseded, 'poll'), schema)).toEqual({ at: 2 });
	storeState(keeper(superseded, 'webhook'), { at: 4 });
	clearProcessMemory();
	expect(readState(keeper(superseded, 'poll'), schema)).toEqual({ at: 2 });
});
