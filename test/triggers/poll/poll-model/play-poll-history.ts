import { SimulatedClock } from '../../../../bench/scale/clock.ts';
import { choiceOf, now, type Begins, type PollStep, type PollHistory } from './poll-histories.ts';
import { PollModelN8n } from './poll-n8n.ts';
import { PollModelService } from './poll-service.ts';
import type { Played } from './played.ts';

/** A trigger of the workflow, and the choices that the user has made for it. */
interface ModelTrigger {
	types: string[];
	begins: Begins;
	settings: Pick<PollHistory, 'doneWhen' | 'groupSize' | 'afterCrash'>;
}

type Steps = { [Does in PollStep['does']]: (step: Extract<PollStep, { does: Does }>) => Promise<void> | void };

/** Plays a history with the real trigger, and then waits until everything has come to rest. */
export async function playPollHistory(history: PollHistory): Promise<Played> {
	const player = new HistoryPlayer(history);
	await player.begin();
	for (const step of history.steps) await player.act(step);
	await player.end();
	return player.played;
}

const copy = (stage: string): Begins => ({ start: '', since: '', stage });

class HistoryPlayer {
	readonly played: Played;
	private readonly clock = new SimulatedClock();
	private readonly service = new PollModelService(this.clock);
	private readonly n8n = new PollModelN8n(this.clock, this.service);
	private readonly names: string[];
	private readonly triggers: ModelTrigger[];
	private since: string;
	/** When n8n has its database again (Unix epoch ms). */
	private databaseBack = 0;

	private readonly steps: Steps = {
		wait: async ({ ms }) => await this.clock.advance(ms),
		kill: async ({ down }) => {
			this.played.kills.push(this.clock.now());
			await this.n8n.kill();
			await this.clock.advance(down);
			// Without its database, n8n does not start.
			while (this.n8n.isDatabaseAway) await this.clock.advance(1_000);
			await this.n8n.start();
		},
		databaseAway: ({ ms }) => {
			this.n8n.isDatabaseAway = true;
			const until = (this.databaseBack = Math.max(this.databaseBack, this.clock.now() + ms));
			void this.clock.sleep(until - this.clock.now()).then(() => (this.n8n.isDatabaseAway = this.clock.now() < this.databaseBack));
		},
		slow: ({ ms }) => {
			const until = this.clock.now() + 60_000;
			this.n8n.beforeWriting = async () => (this.clock.now() < until ? await this.clock.sleep(ms) : undefined);
		},
		zone: async ({ hours }) => {
			this.since = new Date(Date.parse(this.since) + hours * 3_600_000).toISOString();
			if (this.triggers[0]!.begins.start === 'first') await this.publish(0, { begins: { start: 'first', since: this.since } });
		},
		publish: async ({ node }) => await this.publish(node),
		choose: async ({ node, types }) => await this.publish(node, { types }),
		set: async ({ node, settings }) =>
			await this.publish(node, { settings: { ...this.triggers[node]?.settings, ...settings } as never }),
		scope: async ({ node, stage }) => {
			if (this.triggers[node]?.begins.stage !== undefined) await this.publish(node, { begins: copy(stage) });
		},
		begin: async ({ node, at }) => {
			const instant = typeof at === 'number' ? new Date(this.clock.now() - at * 1_000).toISOString() : '';
			const begins = at === 'records' ? copy('') : at === 'now' ? now : { start: 'first', since: this.since };
			await this.publish(node, { begins: instant === '' ? begins : { start: instant, since: instant } });
		},
		happen: ({ count, type, record, late }) => {
			for (let i = 0; i < count; i++) this.service.happen(type, `r${record}`, i % 2 === 0 ? late : 0);
		},
		write: ({ record, stage, late }) => this.service.write(`r${record}`, stage, late),
		expire: () => {
			this.service.cursorsExpire = 1;
		},
		lag: ({ ms }) => {
			this.service.lag = ms;
		},
		fail: ({ count, failure = 'none' }) => {
			Object.assign(this.service, { failures: count, failure });
		},
		restore: async ({ without, grows, givesAgain }) => {
			if (this.service.all.length === 0) return;
			this.played.restores.push(this.clock.now());
			this.service.restore(without, givesAgain);
			await this.clock.advance(1);
			for (let i = 0; i < grows; i++) this.service.happen('a.x', `r${i % 4}`);
		},
		loseStore: () => {
			this.played.losses.push(this.clock.now());
			this.n8n.staticData = '{}';
		},
		oldStore: ({ back }) => {
			this.played.losses.push(this.clock.now());
			this.n8n.staticData = this.n8n.earlier.at(-back) ?? '{}';
			const { global = {} } = JSON.parse(this.n8n.staticData) as { global?: Record<string, { state: Played['setBack'][0] }> };
			this.played.setBack.push(...Object.values(global).map(({ state }) => state));
		},
		loseJobs: ({ count }) => {
			this.n8n.jobsToLose = count;
		},
		prune: () => {
			this.played.pruned = true;
			this.n8n.prune();
		},
	};

	constructor(history: PollHistory) {
		const { clock, service, n8n } = this;
		n8n.courses = history.courses;
		this.played = { history, service, n8n, choices: [], kills: [], restores: [], losses: [], setBack: [] };
		this.names = ['one', 'two'].slice(0, history.nodes);
		this.since = new Date(clock.now() + 60_000).toISOString();
		const { doneWhen, groupSize, afterCrash, isCopy, isDated } = history;
		const first: Begins = isDated ? { start: 'first', since: this.since } : now;
		this.triggers = this.names.map(() => ({
			types: ['a.x'],
			begins: isCopy ? copy('') : first,
			settings: { doneWhen, groupSize, afterCrash },
		}));
	}

	async begin(): Promise<void> {
		const { clock, names, service } = this;
		service.happen('c.z', 'r0');
		for (const record of ['r0', 'r1', 'r2', 'r3']) service.write(record, record === 'r3' ? 'customer' : 'lead');
		await clock.advance(60_000);
		for (let node = 0; node < names.length; node++) await this.publish(node);
		await clock.advance(60_000);
	}

	async act(step: PollStep): Promise<void> {
		await this.steps[step.does](step as never);
	}

	async end(): Promise<void> {
		const { clock, n8n, service } = this;
		service.lag = 0;
		service.failures = 0;
		for (let rows = -1; rows !== n8n.allRows.length; ) {
			rows = n8n.allRows.length;
			await clock.advance(400_000);
		}
		await n8n.kill();
	}

	private async publish(node: number, change: Partial<ModelTrigger> = {}): Promise<void> {
		const trigger = this.triggers[node];
		if (!trigger) return;
		Object.assign(trigger, change);
		const from = this.clock.now();
		await this.n8n.publish(this.names[node]!, choiceOf(trigger.settings, trigger.types, trigger.begins));
		if (this.n8n.isDatabaseAway) this.played.losses.push(this.clock.now());
		this.played.choices.push({ node: this.names[node]!, ...trigger, from, to: this.clock.now() });
	}
}
