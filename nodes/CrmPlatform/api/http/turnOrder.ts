/** Who goes first: somebody waits for it; an ordinary execution; one that has sent many requests. */
const ranks = ['awaited', 'ordinary', 'bulk'] as const;
export type Rank = (typeof ranks)[number];

export interface Ticket {
	rank: Rank;
	workflow: string;
	/** Whether it had its turn before and was refused: it goes before others of its workflow. */
	isRepeated: boolean;
}

/** Every tenth turn goes to a lower rank, each in turn, so that none starves. */
const turnOfLower = 10;

/** Those that wait: by rank, within a rank one of each workflow in turn. */
export class TurnOrder<T extends Ticket> {
	private readonly ranks = ranks.map((rank) => ({ rank, lines: new Map<string, T[]>() }));
	private turns = 0;

	get isEmpty(): boolean {
		return this.ranks.every(({ lines }) => lines.size === 0);
	}

	/** How many workflows wait, besides one. */
	othersThan(workflow: string): number {
		const waiting = new Set(this.ranks.flatMap(({ lines }) => [...lines.keys()]));
		waiting.delete(workflow);
		return waiting.size;
	}

	add(ticket: T): void {
		const lines = this.linesOf(ticket);
		const line = lines.get(ticket.workflow) ?? [];
		lines.set(ticket.workflow, line);
		if (ticket.isRepeated) line.unshift(ticket);
		else line.push(ticket);
	}

	/** Takes out the next of those that may go. */
	take(mayGo: (ticket: T) => boolean = () => true): T | undefined {
		for (const { lines } of this.ranksInTurn()) {
			for (const [workflow, line] of lines) {
				const [ticket] = line;
				if (!ticket || !mayGo(ticket)) continue;
				this.turns += 1;
				line.shift();
				// At the end of the map, other workflows come before it.
				lines.delete(workflow);
				if (line.length > 0) lines.set(workflow, line);
				return ticket;
			}
		}
		return undefined;
	}

	private ranksInTurn() {
		const turn = this.turns + 1;
		if (turn % turnOfLower !== 0) return this.ranks;
		const [, ...lower] = this.ranks;
		if (turn % (2 * turnOfLower) !== 0) lower.reverse();
		return [...lower, ...this.ranks];
	}

	remove(ticket: T): void {
		const lines = this.linesOf(ticket);
		const line = lines.get(ticket.workflow) ?? [];
		const at = line.indexOf(ticket);
		if (at >= 0) line.splice(at, 1);
		if (line.length === 0) lines.delete(ticket.workflow);
	}

	/** Takes out all that satisfy a condition. */
	removeAll(condition: (ticket: T) => boolean): T[] {
		const removed = this.all().filter(condition);
		removed.forEach((ticket) => this.remove(ticket));
		return removed;
	}

	all(): T[] {
		return this.ranks.flatMap(({ lines }) => [...lines.values()].flat());
	}

	private linesOf({ rank }: Ticket): Map<string, T[]> {
		return this.ranks.find((one) => one.rank === rank)!.lines;
	}
}
