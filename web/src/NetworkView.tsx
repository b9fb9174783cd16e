/** A process network: its processes and channels, what is critical, and where they wait. */

import { useEffect, useRef } from "preact/hooks";
import type { Channel, Network, NetworkLine, Profile } from "./data.ts";
import { Help } from "./Help.tsx";
import { hitClass } from "./find.ts";
import { LineLink } from "./LineLink.tsx";
import { pressed, pressedByKey } from "./press.ts";
import { point } from "./reveal.ts";
import { profile } from "./state.ts";
import { isPointed } from "./Summary.tsx";
import { WholeRun } from "./WholeRun.tsx";
import { Table } from "./Table.tsx";
import { cycles, fitting, number, percent } from "./text.ts";

const CHANNELS = 20;
const SMALLEST = 0.7; // of its size, for a picture to fit

/** A channel and its ends. */
interface End {
  line: NetworkLine;
  channel: Channel;
}

export function NetworkView() {
  const shown = profile.value;
  const { network } = shown;
  if (!network) return null;
  const channels = channelsOf(network);
  return (
    <section id="network" aria-labelledby="network-title">
      <h2 id="network-title">Process network</h2>
      <WholeRun what="The network" />
      <Limit shown={shown} network={network} channels={channels} />
      <Picture shown={shown} network={network} />
      <p class="legend">
        <span><i class="line warm" />critical path (wider: more cycles)</span>
        <span><i class="line" />other channels</span>
        <span><i class="line dashed" />reordering buffer</span>
        <span><i class="shade" />share of the critical path</span>
        <span>[n]: values that the channel keeps</span>
        <span>critical: cycles of the critical path that pass through it</span>
        <span>waits: cycles for which the reader waited for its values</span>
      </p>
      <Channels shown={shown} network={network} channels={channels} />
      <Help>
        <p>
          A box is a process: a statement, or (round) the source or sink of an array. A line is a channel from the one that
          writes values to the one that reads them. The critical path leads from the last write back to the first cycle: each
          firing on it began when the one before it gave what it waited for. So its cycles, divided among the processes and
          the channels that they pass through, are those of the run: what is not on it can be slower without any loss.
        </p>
        <p>
          A channel on the path that leads from a process back to itself is a recurrence: a shorter operation or another algorithm
          helps, no memory does. A process on the path without one is as fast as it can begin firings: a smaller interval or a second
          one of its kind helps. The depths are the least with which the network is as fast as with any.
        </p>
      </Help>
    </section>
  );
}

/** All channels, those first that the run waited for. */
function channelsOf(network: Network): End[] {
  return network.lines
    .flatMap((line) => line.channels.map((channel): End => ({ line, channel })))
    .sort((a, b) => (b.channel.critical ?? 0) - (a.channel.critical ?? 0) || b.channel.late - a.channel.late);
}

/** Which process limits, and through which channel, in a sentence each. */
function Limit(props: { shown: Profile; network: Network; channels: End[] }) {
  const { shown, network, channels } = props;
  const hot = hottest(network);
  if (hot < 0) return null;
  const process = network.processes[hot]!;
  const most = process.critical!;
  const at = shown.frames[shown.frame[process.path]!]?.positions[0];
  const [first] = channels.filter(({ channel }) => channel.critical);
  const passed = channels.filter(({ line }) => line.from === hot).reduce((sum, { channel }) => sum + (channel.critical ?? 0), 0);
  return (
    <>
      <p class="gist">
        <b><span data-part="hot-process">{process.name}</span></b>
        {at && <>, <LineLink {...at} /></>},
        {" "}limits: {number(most)} of {cycles(shown.cycles)} of the critical path are its own ({percent(most, shown.cycles)})
        {most - passed > passed && <>, most of them one firing after another, {cycles(process.interval)} apart</>}.
      </p>
      {first && (
        <p class="first">
          Longest wait on the path: <b data-part="hot-channel">{first.channel.operand}</b> {ends(network, first.line)},{" "}
          {number(first.channel.critical!)} cycles ({percent(first.channel.critical!, shown.cycles)})
          {first.line.from === first.line.to && <>: each waits for the one before, which takes {cycles(network.processes[first.line.from]!.latency)}</>}.
        </p>
      )}
    </>
  );
}

/** The process with most of the critical path; -1 if that is not known. */
function hottest(network: Network): number {
  let best = -1;
  network.processes.forEach((process, index) => {
    if ((process.critical ?? 0) > (best < 0 ? 0 : network.processes[best]!.critical!)) best = index;
  });
  return best;
}

function ends(network: Network, line: NetworkLine): string {
  const name = (index: number): string => network.processes[index]!.name;
  return line.from === line.to ? `from ${name(line.from)} to itself` : `from ${name(line.from)} to ${name(line.to)}`;
}

function Picture(props: { shown: Profile; network: Network }) {
  const { shown, network } = props;
  const hot = hottest(network);
  // Least critical lines below the others.
  const lines = [...network.lines].sort((a, b) => critical(a) - critical(b));
  const frame = useRef<HTMLDivElement>(null);
  // A network too large to be seen at once is shown from where the process is that limits.
  useEffect(() => {
    const own = frame.current;
    const process = network.processes[hot];
    if (!own || !process) return;
    const scale = own.firstElementChild!.getBoundingClientRect().width / network.width;
    own.scrollLeft = scale * (process.at[0] + network.node[0] / 2) - own.clientWidth / 2;
    own.scrollTop = scale * (process.at[1] + network.node[1] / 2) - own.clientHeight / 2;
  }, [network]);
  return (
    <div class="network" tabIndex={0} role="region" aria-label="The network's processes and channels" ref={frame}>
      <svg viewBox={`0 0 ${network.width} ${network.height}`} style={{ width: `${network.width}px`, minWidth: `${SMALLEST * network.width}px` }} role="group" aria-label="Process network" data-part="network">
        <defs>
          {["cold", "warm"].map((kind) => (
            <marker id={`arrow-${kind}`} viewBox="0 0 8 8" refX="7" refY="4" markerWidth="8" markerHeight="8" markerUnits="userSpaceOnUse" orient="auto">
              <path d="M0,0 L8,4 L0,8 z" class={kind} />
            </marker>
          ))}
        </defs>
        {lines.map((line) => <Line line={line} total={shown.cycles} title={titleOf(network, line)} />)}
        {lines.map((line) => <Words line={line} />)}
        {network.processes.map((_, index) => <Box shown={shown} network={network} index={index} hot={index === hot} />)}
      </svg>
    </div>
  );
}

function critical(line: NetworkLine): number {
  return line.channels.reduce((sum, channel) => sum + (channel.critical ?? 0), 0);
}

function Line(props: { line: NetworkLine; total: number; title: string }) {
  const { line, total, title } = props;
  const own = critical(line);
  const kind = own ? "warm" : "cold";
  const dashed = line.channels.some((channel) => channel.reordered);
  return (
    <path d={line.path} class={`channel ${kind}`} marker-end={`url(#arrow-${kind})`}
      stroke-width={own ? 2 + (4 * own) / total : 1.2} stroke-dasharray={dashed ? "6 4" : undefined}>
      <title>{title}</title>
    </path>
  );
}

/** What goes through a line. */
function Words(props: { line: NetworkLine }) {
  const [x, y] = props.line.label;
  const rows = props.line.words;
  return (
    <>
      {rows.map(([text, warm], row) => (
        <text x={x} y={y - 12 * (rows.length - 1 - row)} class={warm ? "words warm" : "words"}>{text}</text>
      ))}
    </>
  );
}

function Box(props: { shown: Profile; network: Network; index: number; hot: boolean }) {
  const { shown, network, index, hot } = props;
  const process = network.processes[index]!;
  const [x, y] = process.at;
  const [width, height] = network.node;
  const share = (process.critical ?? 0) / (shown.cycles || 1);
  const work = atWork(shown, process.path);
  const note = `at work ${percent(work, shown.cycles)}${process.critical ? `, critical ${percent(process.critical, shown.cycles)}` : ""}`;
  const paths = [...shown.parent.keys()].filter((path) => path === process.path || shown.parent[path] === process.path);
  const press = (): void => point(process.name, paths);
  const marked = isPointed([process.path]);
  return (
    <g class={`process${hot ? " hot" : ""}${marked ? " pointed" : ""}${hitClass(process.name)}`} role="button" tabindex={0} aria-pressed={marked}
      onClick={press}
      onKeyDown={pressedByKey(press)}>
      <title>{`${process.name} ${note}${hot ? "; it limits" : ""}: ${number(process.firings)} firings, ${cycles(process.interval)} apart at best, ${cycles(process.latency)} each`}</title>
      <rect x={x} y={y} width={width} height={height} rx={process.port ? height / 2 : 4} class="ground" />
      {share > 0 && <rect x={x} y={y} width={width} height={height} rx={process.port ? height / 2 : 4} class="heat" fill-opacity={0.1 + 0.5 * share} />}
      <text x={x + width / 2} y={y + 19} class="name">{fitting(process.name, 24)}</text>
      <text x={x + width / 2} y={y + 35} class="note">{fitting(note, 34)}</text>
    </g>
  );
}

/** The cycles of the run in which a process works. */
function atWork(shown: Profile, path: number): number {
  const track = shown.account.tracks.indexOf(path);
  const work = shown.uses.findIndex((use) => use.work);
  return track < 0 || work < 0 ? 0 : shown.account.units[track * shown.uses.length + work]!;
}

function titleOf(network: Network, line: NetworkLine): string {
  const rows = line.channels.map((channel) =>
    `${channel.operand}: ${kindOf(channel)}, ${number(channel.tokens)} values, read ${number(channel.reads)} times`);
  return [ends(network, line), ...rows].join("\n");
}

function kindOf(channel: Channel): string {
  if (channel.reordered) return "reordering buffer";
  return channel.reads > channel.tokens ? "FIFO, read again" : "FIFO";
}

function Channels(props: { shown: Profile; network: Network; channels: End[] }) {
  const { shown, network, channels } = props;
  const name = (index: number): string => network.processes[index]!.name;
  const endsOf = (line: NetworkLine): number[] => [line.from, line.to].map((index) => network.processes[index]!.path);
  const show = (line: NetworkLine, channel: Channel): void => point(`${channel.operand} ${ends(network, line)}`, endsOf(line));
  return (
    <Table part="channels" kind="channels" caption="Its channels: those on the critical path first, then then those with the longest waits"
      heads={[["critical cycles", "n"], ["share", "n"], ["from"], ["to"], ["operand"], ["values", "n"], ["reads", "n"], ["kind"], ["depth", "n"], ["bits", "n"], ["waited for", "n"], ["was full", "n"]]}>
      {channels.slice(0, CHANNELS).map(({ line, channel }) => (
        <tr class={`${isPointed(endsOf(line)) ? "pointed press" : "press"}${hitClass(channel.operand, name(line.from), name(line.to))}`} onClick={pressed(() => show(line, channel))}>
          <td class="n">
            <span class="meter heat" style={{ width: `${(100 * (channel.critical ?? 0)) / (shown.cycles || 1)}%` }} />
            {channel.critical === null ? "" : number(channel.critical)}
          </td>
          <td class="n">{channel.critical === null ? "" : percent(channel.critical, shown.cycles)}</td>
          <td>{name(line.from)}</td>
          <td>{name(line.to)}</td>
          <td><button type="button" class="link" onClick={() => show(line, channel)}><code>{channel.operand}</code></button></td>
          <td class="n">{number(channel.tokens)}</td>
          <td class="n">{number(channel.reads)}</td>
          <td>{kindOf(channel)}</td>
          <td class="n">{channel.depth === null ? "" : number(channel.depth)}</td>
          <td class="n">{channel.depth === null || channel.width === null ? "" : number(channel.depth * channel.width)}</td>
          <td class="n">{number(channel.late)}</td>
          <td class="n">{number(channel.held)}</td>
        </tr>
      ))}
      {channels.length > CHANNELS && <tr><td class="dim" colSpan={12}>and {number(channels.length - CHANNELS)} more</td></tr>}
    </Table>
  );
}
