library ieee;
use ieee.std_logic_1164.all;
use ieee.numeric_std.all;

entity bench is end;

architecture sim of bench is
  type phase_type is (idle, run, rest);
  signal clk : std_logic := '0';
  signal count : unsigned(3 downto 0) := "0000";
  signal state : unsigned(1 downto 0) := "00";
  signal busy : std_logic;
  signal phase : phase_type := idle;
begin
  clk <= not clk after 5 ns;
  busy <= '1' when state = 1 else '0';
  phase <= idle when state = 0 else run when state = 1 else rest;
  process (clk)
    variable coming : unsigned(3 downto 0);
  begin
    if rising_edge(clk) then
      coming := count + 1;
      count <= coming;
      if coming < 3 then
        state <= "00";
      elsif coming < 7 then
        state <= "01";
      else
        state <= "10";
      end if;
    end if;
  end process;
end;
